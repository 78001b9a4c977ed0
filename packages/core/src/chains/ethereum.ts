/** Ethereum. Sources: SLIP-44, chainlist.org, EIP-609. */
import type { Blockchain } from "./Blockchain.ts"
import * as Evm from "./internal/Evm.ts"

/** The coin of Ethereum, and of the chains above Ethereum that have no coin of their own. */
export const ether = {
  unit: "ETH",
  asset: {
    slug: "ethereum",
    name: "Ethereum",
    coinGecko: "ethereum",
    rank: 2,
    logo: { colour: "#5a6bb8", path: "M16 5l7 11-7 4-7-4zM9.5 19.5l6.5 7.5 6.5-7.5" }
  }
} as const

export const ethereum: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "ethereum",
  slip44: 60,
  coinGeckoPlatform: "ethereum",
  usualConfirmations: 32,
  creditMultiplier: 1,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks(Evm.london, { mainnet: 1, sepolia: 11155111 }, { byzantium: 4_370_000 })
}
