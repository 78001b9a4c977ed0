/**
 * The XRP Ledger. Sources: SLIP-44, xrpl.org (network ids, X-addresses), the states of ledgers 38129 and 40000 as xrpl.js
 * has them among its tests (hash of ledger 256).
 */
import type { Blockchain } from "./Blockchain.ts"

export const xrp: Blockchain = {
  name: "xrp",
  family: "xrp",
  unit: "XRP",
  decimals: 6,
  slip44: 144,
  asset: {
    slug: "xrp",
    name: "XRP",
    coinGecko: "ripple",
    rank: 3,
    logo: { colour: "#31383f", path: "M9 8l4 4a4.5 4.5 0 0 0 6 0l4-4M9 24l4-4a4.5 4.5 0 0 1 6 0l4 4" }
  },
  // A validated ledger is final.
  undoDepth: 1,
  blockSeconds: 4,
  transactionsPerSecond: 20,
  creditMultiplier: 1,
  listedPrices: [],
  exampleNode: "ws://127.0.0.1:6006",
  networks: {
    mainnet: {
      networkKind: "live",
      xrp: {
        networkId: 0,
        ledger256: "46CA85D119A4FDF7644339663A813131C791BD21472BB85C526E9E4072F87ABA",
        // The ledgers before were lost.
        firstLedger: 32_570,
        xAddresses: "X"
      }
    },
    testnet: { networkKind: "test", xrp: { networkId: 1, xAddresses: "T" } }
  }
}
