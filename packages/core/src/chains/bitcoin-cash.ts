/** Bitcoin Cash. Sources: SLIP-44, bitcoincash.org's `cashaddr.md`, Bitcoin Cash Node's `chainparams.cpp`. */
import type { Blockchain } from "./Blockchain.ts"
import * as Utxo from "./internal/Utxo.ts"

export const bitcoinCash: Blockchain = {
  ...Utxo.defaults,
  name: "bitcoin-cash",
  unit: "BCH",
  slip44: 145,
  asset: {
    slug: "bitcoin-cash",
    name: "Bitcoin Cash",
    coinGecko: "bitcoin-cash",
    rank: 7,
    logo: { colour: "#3fa66a", path: "M13 9h6a3.5 3.5 0 0 1-1 7h-6zm-1 7h7a3.5 3.5 0 0 1-1 7h-7zM9 12l2-1" }
  },
  transactionsPerSecond: 0.3,
  creditMultiplier: 1.2,
  listedPrices: Utxo.listedPrices,
  exampleNode: "http://user:password@127.0.0.1:8332",
  networks: Utxo.networks(
    { cashTokens: true, forkId: true, replacement: "never" },
    {
      mainnet: {
        address: { pubKeyHash: [0x00], scriptHash: [0x05], cashAddr: "bitcoincash" },
        genesis: ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"],
        // UAHF
        fork: {
          from: "bitcoin",
          height: 478_559,
          hash: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec"
        }
      },
      testnet: {
        address: { pubKeyHash: [0x6f], scriptHash: [0xc4], cashAddr: "bchtest" },
        // testnet3; testnet4 and chipnet
        genesis: [
          "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
          "000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b"
        ],
        fork: {
          from: "bitcoin",
          height: 1_155_876,
          hash: "00000000000e38fef93ed9582a7df43815d5c2ba9fd37ef70c9a0ea4a285b8f5"
        }
      },
      regtest: {
        address: { pubKeyHash: [0x6f], scriptHash: [0xc4], cashAddr: "bchreg" },
        genesis: ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"]
      }
    }
  )
}
