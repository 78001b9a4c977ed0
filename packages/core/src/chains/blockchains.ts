/** Every blockchain that Headwater knows, in the order in which chains are listed. */
import { arbitrum } from "./arbitrum.ts"
import { avalanche } from "./avalanche.ts"
import type { Blockchain } from "./Blockchain.ts"
import { base } from "./base.ts"
import { binanceSmartChain } from "./binance-smart-chain.ts"
import { bitcoin } from "./bitcoin.ts"
import { bitcoinCash } from "./bitcoin-cash.ts"
import { dash } from "./dash.ts"
import { dogecoin } from "./dogecoin.ts"
import { ethereum } from "./ethereum.ts"
import { ethereumClassic } from "./ethereum-classic.ts"
import { litecoin } from "./litecoin.ts"
import { optimism } from "./optimism.ts"
import { polygon } from "./polygon.ts"
import { tron } from "./tron.ts"
import { xrp } from "./xrp.ts"
import { zcash } from "./zcash.ts"

export const blockchains: ReadonlyArray<Blockchain> = [
  bitcoin,
  bitcoinCash,
  litecoin,
  dogecoin,
  dash,
  zcash,
  ethereum,
  ethereumClassic,
  binanceSmartChain,
  polygon,
  arbitrum,
  avalanche,
  base,
  optimism,
  tron,
  xrp
]
