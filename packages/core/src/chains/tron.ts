/** Tron. Sources: SLIP-44; the chain ids are the ends of the ids of each network's first block. */
import type { TronNetworks } from "../tron/TronFamily.ts"
import type { Blockchain } from "./Blockchain.ts"

const networks: TronNetworks = { chainIds: { mainnet: "2b6653dc", nile: "cd8690dc", shasta: "94a9059e" } }

export const tron: Blockchain = {
  name: "tron",
  family: "tron",
  unit: "TRX",
  decimals: 6,
  slip44: 195,
  asset: {
    slug: "tron",
    name: "TRON",
    coinGecko: "tron",
    rank: 5,
    logo: { colour: "#b5202b", path: "M8 8l16 4-8 14zM8 8l8 18M8 8l8 6 8-2M16 14v12" }
  },
  coinGeckoPlatform: "tron",
  tokenStandards: { fungible: "TRC-20", "non-fungible": "TRC-721", multi: "TRC-1155" },
  usualConfirmations: 20,
  undoDepth: 128,
  blockSeconds: 3,
  creditMultiplier: 1.5,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  exampleNode: "http://127.0.0.1:8090",
  networks: { mainnet: { networkKind: "live", tron: networks }, nile: { networkKind: "test", tron: networks } }
}
