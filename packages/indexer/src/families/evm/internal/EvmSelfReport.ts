/** What an EVM node says of itself. */
import { isJson, type NodeFinding, ok, synchronising, textOf } from "../../node/NodeFinding.ts"

/** The answers to `web3_clientVersion` and `eth_syncing`; undefined for one that the node did not answer. */
export const read = (version: unknown, syncing: unknown): ReadonlyArray<NodeFinding> => {
  const name = textOf(version)
  return [
    ...(name === undefined ? [] : [ok(name)]),
    ...(isJson(syncing) ? [synchronising(syncing.currentBlock, syncing.highestBlock)] : [])
  ]
}
