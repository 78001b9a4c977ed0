/** What a node was found to be able to do: what depends on it, and what to do where the node lacks it. */
export interface Capability {
  readonly name: string
  readonly available: boolean
  /** Nothing has shown yet whether the node has it. */
  readonly unsure?: boolean
  /** What is lost without it, and what to do. */
  readonly detail: string
  /** What to do, for `doctor`, where the detail does not say it. */
  readonly advice?: string
  /** No node of any kind has it, so that there is nothing to do. */
  readonly unobtainable?: boolean
}

/** Whether the node is on the network of its chain: every family's nodes are asked for it. */
export const network = "network"

/** Whether the node gives what internal transactions are read from. */
export const internalTransactions = "internal transactions"

export const has = (name: string, detail: string): Capability => ({ name, available: true, detail })

export const lacks = (
  name: string,
  detail: string,
  about: Pick<Capability, "advice" | "unobtainable" | "unsure"> = {}
): Capability => ({ name, available: false, detail, ...about })

/** The capability of this name, if the node lacks it. */
export const lacking = (capabilities: ReadonlyArray<Capability>, name: string): Capability | undefined =>
  capabilities.find((capability) => capability.name === name && !capability.available)
