/** Arbitrum One. Sources: SLIP-44, chainlist.org. */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const arbitrum: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "arbitrum",
  slip44: 9001,
  coinGeckoPlatform: "arbitrum-one",
  usualConfirmations: 20,
  undoDepth: 1_800,
  blockSeconds: 0.25,
  creditMultiplier: 1.6,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  exampleNode: "http://127.0.0.1:8547",
  networks: Evm.networks(
    { ...Evm.london, dataFee: "arbitrum", retryables: true },
    { mainnet: 42161, sepolia: 421614 },
    { nitro: 22_207_817 }
  )
}
