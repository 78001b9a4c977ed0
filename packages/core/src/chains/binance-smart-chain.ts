/** BNB Smart Chain. Sources: SLIP-44, chainlist.org, bsc's `params/config.go` (known blocks), BEP-619 (interval of blocks). */
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
  undoDepth: 256,
  blockSeconds: 0.45,
  transactionsPerSecond: 150,
  creditMultiplier: 2.5,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks(Evm.london, {
    mainnet: {
      chainId: 56,
      genesis: "0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b"
    },
    testnet: {
      chainId: 97,
      genesis: "0x6d3c66c5357ec91d5c43af47e234a939b22557cbb552dc45bebbceeed90fbe34"
    }
  })
}
