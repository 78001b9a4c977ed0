/**
 * Base. Sources: SLIP-44, chainlist.org, reth's chain specifications (known blocks); docs.base.org, Denim: five blocks a second
 * since November 2026.
 */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const base: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "base",
  slip44: 8453,
  coinGeckoPlatform: "base",
  // As long as the 20 of the time before Denim.
  undoDepth: 18_000,
  blockSeconds: 0.2,
  transactionsPerSecond: 120,
  creditMultiplier: 1.2,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  networks: Evm.networks(
    { ...Evm.london, dataFee: "op-stack" },
    {
      mainnet: {
        chainId: 8453,
        genesis: "0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd"
      },
      sepolia: {
        chainId: 84532,
        genesis: "0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4"
      }
    }
  )
}
