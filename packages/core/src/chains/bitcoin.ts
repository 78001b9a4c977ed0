/** Bitcoin. Sources: SLIP-44, SLIP-173, Bitcoin Core's `chainparams.cpp`. */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

export const bitcoin: Blockchain = {
  ...Utxo.defaults,
  name: "bitcoin",
  unit: "BTC",
  slip44: 0,
  asset: {
    slug: "bitcoin",
    name: "Bitcoin",
    coinGecko: "bitcoin",
    rank: 1,
    logo: { colour: "#e88a12", path: "M12 9h6a3.5 3.5 0 0 1 0 7h-6zm0 7h7a3.5 3.5 0 0 1 0 7h-7zM15 6v3m0 14v3" }
  },
  transactionsPerSecond: 5,
  creditMultiplier: 1,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:8332",
  networks: Utxo.networks(
    {},
    {
      mainnet: {
        address: { pubKeyHash: [0x00], scriptHash: [0x05], segwit: "bc" },
        genesis: ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"]
      },
      testnet: {
        address: { pubKeyHash: [0x6f], scriptHash: [0xc4], segwit: "tb" },
        // testnet3, testnet4, signet
        genesis: [
          "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
          "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043",
          "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"
        ]
      },
      regtest: {
        address: { pubKeyHash: [0x6f], scriptHash: [0xc4], segwit: "bcrt" },
        genesis: ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"]
      }
    }
  )
}
