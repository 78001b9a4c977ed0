/** Which network a node of Tron is on: the id of block 0 proves it. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Capability from "../../Capability.ts"

/** Whether the node whose block 0 has this id is on the chain's network, as far as that can be seen. */
export const capability = (
  { network, networkKind, tron }: Chain,
  genesis: string | undefined
): Capability.Capability => {
  if (genesis === undefined) return Capability.networkPresumed("the node does not show block 0")
  const id = genesis.toLowerCase().slice(0, 64)
  const found = Object.entries(tron!.genesis).find(([, known]) => known === id)?.[0]
  if (found === network) return Capability.has(Capability.network, `${network}, by the id of block 0`)
  if (found === undefined && networkKind !== "live") {
    return Capability.networkPresumed(`the node's block 0 is ${id}, which is no public network's`)
  }
  const other = found ?? `a network whose block 0 is ${id}`
  return Capability.networkWrong(`the node is on ${other}, not ${network}`)
}
