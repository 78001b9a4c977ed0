/** Ethereum. Sources: SLIP-44, chainlist.org, EIP-609, go-ethereum's `params/config.go` (known blocks). */
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
  transactionsPerSecond: 15,
  creditMultiplier: 1,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks(Evm.london, {
    mainnet: {
      chainId: 1,
      byzantium: 4_370_000,
      genesis: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
      ownBlock: {
        height: 1_920_000,
        hash: "0x4985f5ca3d2afbec36529aa96f74de3cc10a2a4a6c44f2157a57d2c6059a11bb"
      }
    },
    sepolia: {
      chainId: 11155111,
      genesis: "0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9"
    }
  })
}
