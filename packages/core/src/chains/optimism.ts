/** Optimism. Sources: SLIP-44, chainlist.org. */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const optimism: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "optimism",
  slip44: 614,
  coinGeckoPlatform: "optimistic-ethereum",
  usualConfirmations: 20,
  undoDepth: 1_800,
  blockSeconds: 2,
  creditMultiplier: 1.4,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  networks: Evm.networks({ ...Evm.london, dataFee: "op-stack" }, { mainnet: 10, sepolia: 11155420 })
}
