/** Dash. Sources: SLIP-44, DIP-2 (special transactions), DIP-8 (ChainLocks), Dash Core's `chainparams.cpp`. */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

export const dash: Blockchain = {
  ...Utxo.defaults,
  name: "dash",
  unit: "DASH",
  slip44: 5,
  asset: {
    slug: "dash",
    name: "Dash",
    coinGecko: "dash",
    rank: 13,
    logo: { colour: "#2470b8", path: "M12 10h7a4 4 0 0 1 0 12h-8M9 16h7" }
  },
  // Dash software does not agree which of drkp and drkv is the public version (Trezor says drkp, the first nodes said
  // drkv), so both are read, and the key inside decides.
  extendedKeyVersions: [
    { name: "drkp", bytes: 0x02fe52cc, test: false },
    { name: "drkv", bytes: 0x02fe52f8, test: false },
    { name: "DRKP", bytes: 0x3a805837, test: true },
    { name: "DRKV", bytes: 0x3a8061a0, test: true }
  ],
  blockSeconds: 150,
  transactionsPerSecond: 0.4,
  creditMultiplier: 1.1,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:9998",
  networks: Utxo.networks(
    { headerHash: "x11", specialTransactions: true, chainLocks: true, replacement: "never" },
    {
      mainnet: {
        address: { pubKeyHash: [0x4c], scriptHash: [0x10] },
        genesis: ["00000ffd590b1485b3caadc19b22e6379c733355108f107a430458cdf3407ab6"]
      },
      testnet: {
        address: { pubKeyHash: [0x8c], scriptHash: [0x13] },
        genesis: ["00000bafbc94add76cb75e2ec92894837288a481e5c005f6563d91623bf8bc2c"]
      },
      regtest: {
        address: { pubKeyHash: [0x8c], scriptHash: [0x13] },
        genesis: ["000008ca1832a4baf228eb1553c03d3a2c8e02399550dd6ea8d65cec3ef23d2e"]
      }
    }
  )
}
