/**
 * Ethereum Classic. Sources: SLIP-44, chainlist.org, ECIP-1054 (Atlantis), ECIP-1103 (Magneto: access lists, no fee market),
 * core-geth and Besu (known blocks).
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
  // Reorganisations of thousands of blocks have happened.
  undoDepth: 10_000,
  blockSeconds: 13,
  transactionsPerSecond: 0.4,
  creditMultiplier: 1.3,
  listedPrices: ["prepare", "internal-transactions", "evm-assets", "evm-logs"],
  networks: Evm.networks(
    { ...Evm.london, feeMarket: false },
    {
      mainnet: {
        chainId: 61,
        byzantium: 8_772_000,
        genesis: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
        ownBlock: {
          height: 1_920_000,
          hash: "0x94365e3a8c0b35089c1d1195081fe7489b528a84b22199c916180db8b28ade7f"
        }
      },
      mordor: {
        chainId: 63,
        genesis: "0xa68ebde7932eccb177d38d55dcc6461a019dd795a681e59b5a3e4f3a7259a3f1"
      }
    }
  )
}
