/** BNB Smart Chain. Sources: SLIP-44, chainlist.org. */
import type { Blockchain } from "./Blockchain.ts"
import * as Evm from "./internal/Evm.ts"

export const binanceSmartChain: Blockchain = {
  ...Evm.defaults,
  name: "binance-smart-chain",
  unit: "BNB",
  slip44: 9006,
  asset: {
    slug: "bnb",
    name: "BNB",
    coinGecko: "binancecoin",
    rank: 4,
    logo: { colour: "#c9991b", path: "M16 7l4 4-4 4-4-4zM16 17l4 4-4 4-4-4zM8 16h.01M24 16h.01" }
  },
  coinGeckoPlatform: "binance-smart-chain",
  tokenStandards: { fungible: "BEP-20", "non-fungible": "ERC-721", multi: "ERC-1155" },
  usualConfirmations: 15,
  undoDepth: 256,
  blockSeconds: 0.75,
  creditMultiplier: 2.5,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks(Evm.london, { mainnet: 56, testnet: 97 })
}
