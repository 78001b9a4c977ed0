/** Litecoin. Sources: SLIP-44, SLIP-173, SLIP-132, LIP-2 and LIP-3 (MWEB), Litecoin Core's `chainparams.cpp` and `validation.h`. */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

/** MWEB headers and peg-ins are written as witness programs. */
const witnessWithoutAddress = [8, 9]

export const litecoin: Blockchain = {
  ...Utxo.defaults,
  name: "litecoin",
  unit: "LTC",
  slip44: 2,
  asset: {
    slug: "litecoin",
    name: "Litecoin",
    coinGecko: "litecoin",
    rank: 9,
    logo: { colour: "#5b6f8c", path: "M16 7l-4 17h10M10 18l9-4" }
  },
  extendedKeyVersions: [
    { name: "Ltub", bytes: 0x019da462, privateBytes: 0x019d9cfe, test: false, format: "P2PKH" },
    { name: "Mtub", bytes: 0x01b26ef6, privateBytes: 0x01b26792, test: false, format: "P2SH-P2WPKH" },
    { name: "ttub", bytes: 0x0436f6e1, privateBytes: 0x0436ef7d, test: true, format: "P2PKH" }
  ],
  blockSeconds: 150,
  transactionsPerSecond: 2.5,
  creditMultiplier: 1.1,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:9332",
  networks: Utxo.networks(
    { mweb: true, pegOutMaturity: 6, dustRate: 30_000n, replacement: "optional" },
    {
      mainnet: {
        address: {
          pubKeyHash: [0x30],
          scriptHash: [0x32],
          legacyScriptHash: [0x05],
          segwit: "ltc",
          witnessWithoutAddress
        },
        genesis: ["12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"]
      },
      testnet: {
        address: {
          pubKeyHash: [0x6f],
          scriptHash: [0x3a],
          legacyScriptHash: [0xc4],
          segwit: "tltc",
          witnessWithoutAddress
        },
        genesis: ["4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"]
      },
      regtest: {
        address: {
          pubKeyHash: [0x6f],
          scriptHash: [0x3a],
          legacyScriptHash: [0xc4],
          segwit: "rltc",
          witnessWithoutAddress
        },
        genesis: ["530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"]
      }
    }
  )
}
