/** Polygon PoS. Sources: SLIP-44, chainlist.org, Erigon's chain specifications (known blocks), PIP-35, PIP-86 (interval of blocks). */
import type { Blockchain } from "./Blockchain.ts"
import * as Evm from "./internal/Evm.ts"

/** PIP-35, which Bor and Erigon enforce, whatever they are told; producers alone may be told another bound (bor #1889). */
const leastTip = 25_000_000_000n

export const polygon: Blockchain = {
  ...Evm.defaults,
  name: "polygon",
  unit: "POL",
  slip44: 966,
  asset: {
    slug: "polygon",
    name: "Polygon Ecosystem Token",
    coinGecko: "polygon-ecosystem-token",
    rank: 10,
    logo: { colour: "#7340c4", path: "M12 9l5 3v6l-5 3-5-3v-6zM20 11l5 3v6l-5 3-3-2" }
  },
  coinGeckoPlatform: "polygon-pos",
  undoDepth: 512,
  blockSeconds: 1.5,
  transactionsPerSecond: 60,
  creditMultiplier: 2,
  listedPrices: ["prepare", "internal-transactions", "evm-logs"],
  networks: Evm.networks(
    { ...Evm.london, stateSync: true },
    {
      mainnet: {
        chainId: 137,
        leastTip,
        genesis: "0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b"
      },
      amoy: {
        chainId: 80002,
        leastTip,
        genesis: "0x7202b2b53c5a0836e773e319d18922cc756dd67432f9a1f65352b61f4406c697"
      }
    }
  )
}
