/**
 * The assets that ship with Headwater: the native coins of its 16 blockchains, and a few currencies. With no provider
 * and no internet they are all that there is to begin with.
 */

import * as Chain from "@headwater/core/chains/Chain"
import * as Asset from "@headwater/core/market/Asset"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { currencyPrefix } from "./CoinGecko.ts"
import { logos } from "./Logos.ts"

type Ticker = keyof typeof logos

/** Ticker → slug, name, and id at CoinGecko. */
const coins: ReadonlyArray<readonly [ticker: Ticker, slug: string, name: string, coingecko: string]> = [
  ["BTC", "bitcoin", "Bitcoin", "bitcoin"],
  ["ETH", "ethereum", "Ethereum", "ethereum"],
  ["XRP", "xrp", "XRP", "ripple"],
  ["BNB", "bnb", "BNB", "binancecoin"],
  ["TRX", "tron", "TRON", "tron"],
  ["DOGE", "dogecoin", "Dogecoin", "dogecoin"],
  ["BCH", "bitcoin-cash", "Bitcoin Cash", "bitcoin-cash"],
  ["AVAX", "avalanche", "Avalanche", "avalanche-2"],
  ["LTC", "litecoin", "Litecoin", "litecoin"],
  ["POL", "polygon", "Polygon Ecosystem Token", "polygon-ecosystem-token"],
  ["ETC", "ethereum-classic", "Ethereum Classic", "ethereum-classic"],
  ["ZEC", "zcash", "Zcash", "zcash"],
  ["DASH", "dash", "Dash", "dash"]
]

const currencies: ReadonlyArray<readonly [ticker: Ticker, slug: string, name: string]> = [
  ["USD", "us-dollar", "US Dollar"],
  ["EUR", "euro", "Euro"],
  ["GBP", "pound-sterling", "Pound Sterling"],
  ["JPY", "japanese-yen", "Japanese Yen"],
  ["CHF", "swiss-franc", "Swiss Franc"],
  ["CNY", "renminbi", "Renminbi"]
]

/** Every live chain whose own coin this is. */
const nativeOn = (ticker: Ticker) =>
  Chain.all
    .filter(({ network, unit }) => unit === ticker && network === "mainnet")
    .map(({ blockchain, decimals, network, unit }) => ({
      ...{ blockchain, network, identifier: unit, standard: Asset.native },
      fungibleValues: { decimals }
    }))

const decode = Schema.decodeUnknownSync(Schema.Array(Asset.Entry))

/** What ships, checked as everything is that comes from elsewhere. */
export const entries: ReadonlyArray<Asset.Entry> = decode([
  ...coins.map(([ticker, slug, name, coingecko]) => ({
    ...{ slug, name, originalSymbol: ticker, logo: logos[ticker], contracts: nativeOn(ticker) },
    ...{ specificData: { type: "COIN" }, providers: { coingecko } }
  })),
  ...currencies.map(([ticker, slug, name]) => ({
    ...{ slug, name, originalSymbol: ticker, logo: logos[ticker], assetType: "fiat" },
    ...{ specificData: { type: "COIN" } },
    ...(ticker === "USD" ? {} : { providers: { coingecko: `${currencyPrefix}${ticker.toLowerCase()}` } })
  }))
])

/** Lists what ships where nobody with precedence has described it. */
export const seed = Effect.gen(function* () {
  const assets = yield* Assets
  const listed = yield* assets.put(entries, "bundled")
  for (const [i, outcome] of listed.entries()) {
    if (outcome.kind !== "refused") continue
    yield* Effect.logWarning(`${entries[i]!.name} is not listed: ${outcome.field} ${outcome.message}`)
  }
})
