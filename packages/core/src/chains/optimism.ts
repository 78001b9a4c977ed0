/** Optimism. Sources: SLIP-44, chainlist.org, op-geth and reth's chain specifications (known blocks). */
import type { Blockchain } from "./Blockchain.ts"
import { ether } from "./ethereum.ts"
import * as Evm from "./internal/Evm.ts"

export const optimism: Blockchain = {
  ...Evm.defaults,
  ...ether,
  name: "optimism",
  slip44: 614,
  coinGeckoPlatform: "optimistic-ethereum",
  undoDepth: 1_800,
  blockSeconds: 2,
  transactionsPerSecond: 15,
  creditMultiplier: 1.4,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  networks: Evm.networks(
    { ...Evm.london, dataFee: "op-stack" },
    {
      mainnet: {
        chainId: 10,
        genesis: "0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b"
      },
      sepolia: {
        chainId: 11155420,
        genesis: "0x102de6ffb001480cc9b8b548fd05c34cd4f46ae4aa91759393db90ea0409887d"
      }
    }
  )
}
