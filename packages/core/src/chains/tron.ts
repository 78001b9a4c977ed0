/** Tron. Sources: SLIP-44, TIP-474 and java-tron's configurations (ids of the first blocks). */
import type { TronNetworks } from "../tron/TronFamily.ts"
import type { Blockchain } from "./Blockchain.ts"

const networks: TronNetworks = {
  genesis: {
    mainnet: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
    nile: "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc",
    shasta: "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e"
  }
}

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
  undoDepth: 128,
  blockSeconds: 3,
  transactionsPerSecond: 100,
  creditMultiplier: 1.5,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  exampleNode: "http://127.0.0.1:8090",
  networks: { mainnet: { networkKind: "live", tron: networks }, nile: { networkKind: "test", tron: networks } }
}
