/** Something that a node was found to be able to do or not, and what depends on the capability. */
export interface Capability {
  readonly name: string
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

/** The capability of every family's nodes to serve the chain: to be on its network. */
export const network = "network"

/** The capability to give traces, or another form in which internal transactions can be read. */
export const internalTransactions = "internal transactions"

export const has = (name: string, detail: string): Capability => ({ name, available: true, detail })

/** A capability that nodes are presumed to have, where nothing has shown it; `advice` is how to make sure. */
export const presumed = (name: string, detail: string, advice: string): Capability => ({
  ...has(name, detail),
  ...{ unsure: true, advice }
})

/** The network of a node that is not proved; why not. */
export const networkPresumed = (detail: string): Capability =>
  presumed(network, `not proved: ${detail}`, "see to it that the URL names a node of this network")

export const lacks = (
  name: string,
  detail: string,
  about: Pick<Capability, "advice" | "unobtainable" | "unsure"> = {}
): Capability => ({ name, available: false, detail, ...about })

/** Why it is not proved that a node is on its chain's network; undefined where it is. */
export const networkDoubt = (capabilities: ReadonlyArray<Capability>): string | undefined =>
  capabilities.find(({ name, unsure }) => name === network && unsure === true)?.detail

/** The capability of this name, if the node lacks it. */
export const lacking = (capabilities: ReadonlyArray<Capability>, name: string): Capability | undefined =>
  capabilities.find((capability) => capability.name === name && !capability.available)
