/** Which network a node of Tron is on: the id of block 0 says it. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Capability from "../../Capability.ts"

/** The chain's id: the last bytes of the id of block 0. */
const chainIdOf = (genesis: string) => genesis.slice(-8).toLowerCase()

/** The public network whose block 0 has this id. */
export const of = ({ tron }: Chain, genesis: string): string | undefined =>
  Object.entries(tron!.chainIds).find(([, chainId]) => chainId === chainIdOf(genesis))?.[0]

/** Whether the node whose block 0 has this id is on the chain's network, as far as that can be seen. */
export const capability = (chain: Chain, genesis: string | undefined): Capability.Capability => {
  if (genesis === undefined) return Capability.networkPresumed("the node does not show block 0")
  const found = of(chain, genesis)
  return found === undefined || found === chain.network
    ? Capability.has(Capability.network, `chain id 0x${chainIdOf(genesis)}`)
    : Capability.lacks(Capability.network, `the node is on ${found}, not ${chain.network}: correct the node's URL`)
}
