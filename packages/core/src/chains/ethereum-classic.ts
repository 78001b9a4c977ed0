/**
 * Ethereum Classic. Sources: SLIP-44, chainlist.org, ECIP-1054 (Atlantis), ECIP-1103
 * (Magneto: access lists, no fee market).
 */
import type { Blockchain } from "./Blockchain.ts"
import * as Evm from "./internal/Evm.ts"

export const ethereumClassic: Blockchain = {
  ...Evm.defaults,
  name: "ethereum-classic",
  unit: "ETC",
  slip44: 61,
  asset: {
    slug: "ethereum-classic",
    name: "Ethereum Classic",
    coinGecko: "ethereum-classic",
    rank: 11,
    logo: { colour: "#2f8a57", path: "M16 5l7 11-7 11-7-11zM9 16h14" }
  },
  coinGeckoPlatform: "ethereum-classic",
  usualConfirmations: 400,
  // Reorganisations of thousands of blocks have happened.
  undoDepth: 10_000,
  blockSeconds: 13,
  creditMultiplier: 1.3,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks({ ...Evm.london, feeMarket: false }, { mainnet: 61, mordor: 63 }, { byzantium: 8_772_000 })
}
