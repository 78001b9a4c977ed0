/** What a node of the Bitcoin family says of itself. */
import { clockTolerance, isJson, type NodeFinding, ok, synchronising, textOf } from "../../node/NodeFinding.ts"

/** Answers of a node; undefined for one that the node did not give. */
export interface Answers {
  /** `getnetworkinfo` */
  readonly network: unknown
  /** `getblockchaininfo` */
  readonly chain: unknown
  /** `getindexinfo` */
  readonly indexes: unknown
}

/** Headers that a node may be ahead of its blocks without being behind its network. */
const headersAhead = 10

const clock = (offset: number): NodeFinding => ({
  level: "warning",
  code: "node_clock",
  message: `the node's clock is ${offset} s from its peers'`,
  advice: "set the clock of the node's machine by NTP"
})

const ofNetwork = (network: unknown): ReadonlyArray<NodeFinding> => {
  if (!isJson(network)) return []
  const offset = Number(network.timeoffset)
  const version = ok(textOf(network.subversion) ?? "unknown")
  return Math.abs(offset) > clockTolerance ? [version, clock(offset)] : [version]
}

const ofChain = (chain: unknown): ReadonlyArray<NodeFinding> =>
  isJson(chain) && (chain.initialblockdownload === true || Number(chain.headers) - Number(chain.blocks) > headersAhead)
    ? [synchronising(chain.blocks, chain.headers)]
    : []

const ofIndexes = (indexes: unknown): ReadonlyArray<NodeFinding> =>
  isJson(indexes) ? [ok(`txindex: ${isJson(indexes.txindex) ? "yes" : "no"}`)] : []

export const read = ({ chain, indexes, network }: Answers): ReadonlyArray<NodeFinding> => [
  ...ofNetwork(network),
  ...ofChain(chain),
  ...ofIndexes(indexes)
]
