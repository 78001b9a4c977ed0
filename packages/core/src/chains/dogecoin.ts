/** Dogecoin. Sources: SLIP-44, Dogecoin Core's `chainparams.cpp`, `policy.h` and `fee-recommendation.md`. */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

export const dogecoin: Blockchain = {
  ...Utxo.defaults,
  name: "dogecoin",
  unit: "DOGE",
  slip44: 3,
  asset: {
    slug: "dogecoin",
    name: "Dogecoin",
    coinGecko: "dogecoin",
    rank: 6,
    logo: { colour: "#b59a3c", path: "M12 8h4a8 8 0 0 1 0 16h-4zM9 16h8" }
  },
  extendedKeyVersions: [
    { name: "dgub", bytes: 0x02facafd, privateBytes: 0x02fac398, test: false },
    { name: "tgub", bytes: 0x0432a9a8, privateBytes: 0x0432a243, test: true }
  ],
  undoDepth: 300,
  blockSeconds: 60,
  transactionsPerSecond: 0.7,
  creditMultiplier: 1.1,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:22555",
  networks: Utxo.networks(
    {
      ...{ auxPow: true, dustAmount: 1_000_000n, minedRate: 1_000_000n, coinbaseMaturity: 240 },
      ...{ transactionVersion: 1, replacement: "never" }
    },
    {
      mainnet: {
        address: { pubKeyHash: [0x1e], scriptHash: [0x16] },
        genesis: ["1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691"]
      },
      testnet: {
        address: { pubKeyHash: [0x71], scriptHash: [0xc4] },
        genesis: ["bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e"]
      },
      regtest: {
        address: { pubKeyHash: [0x6f], scriptHash: [0xc4] },
        genesis: ["3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5"]
      }
    }
  )
}
