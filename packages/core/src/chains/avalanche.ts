/**
 * Avalanche's C-Chain. Sources: SLIP-44, chainlist.org, avalanchego's genesis tests, Foundry's `cast chain` (known blocks). The
 * producers set the interval of blocks (ACP-226): a second since January 2026.
 */
import type { Blockchain } from "./Blockchain.ts"
import * as Evm from "./internal/Evm.ts"

export const avalanche: Blockchain = {
  ...Evm.defaults,
  name: "avalanche",
  unit: "AVAX",
  slip44: 9005,
  asset: {
    slug: "avalanche",
    name: "Avalanche",
    coinGecko: "avalanche-2",
    rank: 8,
    logo: { colour: "#cf3a3a", path: "M16 7l-9 16h5l6-11zM19 23h6l-3-5z" }
  },
  coinGeckoPlatform: "avalanche",
  // An accepted block is final.
  blockSeconds: 1,
  transactionsPerSecond: 15,
  creditMultiplier: 1.8,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  exampleNode: "http://127.0.0.1:9650/ext/bc/C/rpc",
  networks: Evm.networks(Evm.london, {
    mainnet: {
      chainId: 43114,
      genesis: "0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b"
    },
    fuji: {
      chainId: 43113,
      genesis: "0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b",
      ownBlock: {
        height: 1,
        hash: "0x738639479dc82d199365626f90caa82f7eafcfe9ed354b456fb3d294597ceb53"
      }
    }
  })
}
