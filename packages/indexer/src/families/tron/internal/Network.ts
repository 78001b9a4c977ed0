/** Which network a node of Tron is on: the id of block 0 says it. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Capability from "../../Capability.ts"

/** The last bytes of the id of block 0, which are the chain's id. */
const chainIds: Readonly<Record<string, string>> = { mainnet: "2b6653dc", nile: "cd8690dc", shasta: "94a9059e" }

const chainIdOf = (genesis: string) => genesis.slice(-8).toLowerCase()

/** The public network whose block 0 has this id. */
export const of = (genesis: string): string | undefined =>
  Object.keys(chainIds).find((name) => chainIds[name] === chainIdOf(genesis))

/** Whether the node whose block 0 has this id is on the chain's network, as far as that can be seen. */
export const capability = (chain: Chain, genesis: string | undefined): Capability.Capability => {
  const found = genesis === undefined ? undefined : of(genesis)
  return found === undefined || found === chain.network
    ? Capability.has(Capability.network, `chain id ${genesis === undefined ? "not said" : `0x${chainIdOf(genesis)}`}`)
    : Capability.lacks(Capability.network, `the node is on ${found}, not ${chain.network}: correct the node's URL`)
}
