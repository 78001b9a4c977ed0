/** What an operator changes in the settings of a chain between two starts, and back the next time. */
import type * as System from "./System.ts"

/** Settings of a chain that are changed. */
export const changes = ["record", "record", "nodes", "pollMillis", "undoDepth"] as const
export type Change = (typeof changes)[number]

type Chains = NonNullable<System.Written["chains"]>
type Chain = NonNullable<Chains["ethereum/devnet"]>

const changedChain = (chain: Chain, nodes: ReadonlyArray<string>, change: Change): Chain => {
  switch (change) {
    case "record":
      return { ...chain, record: chain.record === "watched" ? "all" : "watched" }
    case "nodes": {
      const [first, ...others] = nodes as Chain["nodes"]
      const [next, ...rest] = others
      return { ...chain, nodes: next === undefined || chain.nodes.length === 1 ? [first, ...others] : [next, ...rest] }
    }
    case "pollMillis":
      return { ...chain, pollMillis: chain.pollMillis === 500 ? 2_000 : 500 }
    case "undoDepth": {
      const { undoDepth, ...rest } = chain
      return undoDepth === undefined ? { ...chain, undoDepth: 8 } : rest
    }
  }
}

/** `nodes`: all that the chain has. */
export const change = (
  written: System.Written,
  name: string,
  nodes: ReadonlyArray<string>,
  change: Change
): System.Written => {
  const chain = (written.chains as Readonly<Record<string, Chain>>)[name]!
  return { ...written, chains: { ...written.chains, [name]: changedChain(chain, nodes, change) } as Chains }
}

/** How a chain is recorded. */
export const recordOf = (written: System.Written, name: string) =>
  (written.chains as Readonly<Record<string, Chain>>)[name]!.record ?? "all"
