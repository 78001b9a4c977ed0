/** Arbitrum One. Sources: SLIP-44, chainlist.org, squid-sdk and Erigon's chain specifications (known blocks). */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const arbitrum: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "arbitrum",
  slip44: 9001,
  coinGeckoPlatform: "arbitrum-one",
  undoDepth: 1_800,
  blockSeconds: 0.25,
  transactionsPerSecond: 30,
  creditMultiplier: 1.6,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  exampleNode: "http://127.0.0.1:8547",
  networks: Evm.networks(
    { ...Evm.london, dataFee: "arbitrum", retryables: true },
    {
      mainnet: {
        chainId: 42161,
        nitro: 22_207_817,
        genesis: "0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442"
      },
      sepolia: {
        chainId: 421614,
        genesis: "0x77194da4010e549a7028a9c3c51c3e277823be6ac7d138d0bb8a70197b5c004c"
      }
    }
  )
}
