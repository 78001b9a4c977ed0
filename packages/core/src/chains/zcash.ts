/**
 * Zcash. Sources: SLIP-44, ZIP-320 (TEX addresses), zcashd's `chainparams.cpp`; ZIP-218, in force with NU7 (November 2026): a block every
 * 25 seconds. Zebra leaves a branch of up to 1,000 blocks for a better one.
 */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

export const zcash: Blockchain = {
  ...Utxo.defaults,
  name: "zcash",
  unit: "ZEC",
  slip44: 133,
  asset: {
    slug: "zcash",
    name: "Zcash",
    coinGecko: "zcash",
    rank: 12,
    logo: { colour: "#d9a520", path: "M11 11h10l-10 10h10M16 7v4m0 10v4" }
  },
  // As long as the 24 of the time before NU7.
  undoDepth: 1_000,
  blockSeconds: 25,
  transactionsPerSecond: 0.1,
  creditMultiplier: 1.3,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:8232",
  networks: Utxo.networks(
    { wireFormat: "zcash", dustRate: 300n, replacement: "never" },
    {
      mainnet: {
        address: { pubKeyHash: [0x1c, 0xb8], scriptHash: [0x1c, 0xbd], tex: "tex" },
        genesis: ["00040fe8ec8471911baa1db1266ea15dd06b4a8a5c453883c000b031973dce08"]
      },
      testnet: {
        address: { pubKeyHash: [0x1d, 0x25], scriptHash: [0x1c, 0xba], tex: "textest" },
        genesis: ["05a60a92d99d85997cce3b87616c089f6124d7342af37106edc76126334a2c38"]
      },
      regtest: {
        address: { pubKeyHash: [0x1d, 0x25], scriptHash: [0x1c, 0xba], tex: "texregtest" },
        genesis: ["029f11d80ef9765602235e1bc9727e3eb6ba20839319f761fee920d63401e327"]
      }
    }
  )
}
