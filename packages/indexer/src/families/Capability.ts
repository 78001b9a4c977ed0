import * as Result from "effect/Result"

/** The capability of every family's nodes to serve the chain: to be on its network. */
export const network = "network"

/** The capability to give traces, or another form in which internal transactions can be read. */
export const internalTransactions = "internal transactions"

/** What nodes can do, or cannot. */
export type Name =
  | typeof network
  | typeof internalTransactions
  | "blocks"
  | "coin search"
  | "finality"
  | "history"
  | "prevouts"
  | "receipts of a block"
  | "TRC-10 tokens"

/** Something that a node was found to be able to do or not, and what depends on the capability. */
export interface Capability {
  readonly name: Name
  readonly available: boolean
  /** Nothing has shown yet whether the node has the capability; `available` is then what is presumed. */
  readonly unsure?: boolean
  /** What the node does, or what is lost without the capability; what is not known, where it is unsure. */
  readonly detail: string
  /** What to do, for `doctor`, where the detail does not say it. */
  readonly advice?: string
  /** No node of any kind has the capability, so that there is nothing to do. */
  readonly unobtainable?: boolean
}

export const has = (name: Name, detail: string): Capability => ({ name, available: true, detail })

/** A capability that nodes are presumed to have, where nothing has shown it; `advice` is how to make sure. */
export const presumed = (name: Name, detail: string, advice: string): Capability => ({
  ...has(name, detail),
  ...{ unsure: true, advice }
})

/** The network of a node that is not proved; why not. */
export const networkPresumed = (detail: string): Capability =>
  presumed(network, `not proved: ${detail}`, "see to it that the URL names a node of this network")

export const lacks = (
  name: Name,
  detail: string,
  about: Pick<Capability, "advice" | "unobtainable" | "unsure"> = {}
): Capability => ({ name, available: false, detail, ...about })

/** The network of a node that is on another one than its chain. */
export const networkWrong = (detail: string): Capability =>
  lacks(network, `${detail}: it belongs to another network; correct the node's URL`)

/**
 * The network of a node by the chain's known blocks. `doubt` fails with the network that they prove instead, and says why
 * they prove none; undefined where they prove that of the chain.
 */
export const networkByBlocks = (chain: string, doubt: Result.Result<string | undefined, string>): Capability =>
  Result.match(doubt, {
    onFailure: (other) => networkWrong(`the node is on ${other}, not on ${chain}`),
    onSuccess: (why) => (why === undefined ? has(network, `${chain}, by its known blocks`) : networkPresumed(why))
  })

/** Why it is not proved that a node is on its chain's network; undefined where it is. */
export const networkDoubt = (capabilities: ReadonlyArray<Capability>): string | undefined =>
  capabilities.find(({ name, unsure }) => name === network && unsure === true)?.detail

/** The capability of this name, if the node lacks it. */
export const lacking = (capabilities: ReadonlyArray<Capability>, name: Name): Capability | undefined =>
  capabilities.find((capability) => capability.name === name && !capability.available)
