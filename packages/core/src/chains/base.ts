/** Base. Sources: SLIP-44, chainlist.org. */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const base: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "base",
  slip44: 8453,
  coinGeckoPlatform: "base",
  usualConfirmations: 20,
  undoDepth: 1_800,
  blockSeconds: 2,
  creditMultiplier: 1.2,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  networks: Evm.networks({ ...Evm.london, dataFee: "op-stack" }, { mainnet: 8453, sepolia: 84532 })
}
