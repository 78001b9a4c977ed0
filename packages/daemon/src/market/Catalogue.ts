/**
 * The assets that ship with Headwater: the native coin of every blockchain, and a few currencies. Without a provider and
 * without the internet the catalogue begins with these alone.
 */

import * as Chain from "@headwater/core/chains/Chain"
import * as Asset from "@headwater/core/market/Asset"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { currencyPrefix } from "./CoinGecko.ts"
import * as Logos from "./Logos.ts"

const currencies: ReadonlyArray<readonly [ticker: string, slug: string, name: string, colour: string, path: string]> = [
  ["USD", "us-dollar", "US Dollar", "#4a7d52", "M20 11a4 3 0 0 0-4-2c-5 0-5 6 0 7s5 7 0 7a4 3 0 0 1-4-2M16 6v20"],
  ["EUR", "euro", "Euro", "#34509c", "M21 10a7 7 0 1 0 0 12M9 14h8M9 18h8"],
  ["GBP", "pound-sterling", "Pound Sterling", "#5c4a8a", "M20 11a4 4 0 0 0-8 1c0 4 2 6-1 11h10M10 17h7"],
  ["JPY", "japanese-yen", "Japanese Yen", "#a8434f", "M11 8l5 8 5-8M16 16v8M11 17h10M11 20h10"],
  ["CHF", "swiss-franc", "Swiss Franc", "#b8322f", "M16 9v14M9 16h14"],
  ["CNY", "renminbi", "Renminbi", "#bf4b32", "M11 8l5 8 5-8M16 16v8M11 18h10"]
]

/** The live chains of each coin, in the order of the coins' ranks. */
const coins = [...Map.groupBy(Chain.live, ({ asset }) => asset.slug).values()].sort(
  ([a], [b]) => a!.asset.rank - b!.asset.rank
)

const decode = Schema.decodeUnknownSync(Schema.Array(Asset.Entry))

/** The shipped entries, checked as those of a provider are. */
export const entries: ReadonlyArray<Asset.Entry> = decode([
  ...coins.map((chains) => {
    const { asset, unit } = chains[0]!
    return {
      ...{ slug: asset.slug, name: asset.name, originalSymbol: unit, logo: Logos.draw(asset.logo) },
      contracts: chains.map(({ blockchain, decimals, network }) => ({
        ...{ blockchain, network, identifier: unit, standard: Asset.native },
        fungibleValues: { decimals }
      })),
      ...{ specificData: { type: "COIN" }, providers: { coingecko: asset.coinGecko } }
    }
  }),
  ...currencies.map(([ticker, slug, name, colour, path]) => ({
    ...{ slug, name, originalSymbol: ticker, logo: Logos.draw({ colour, path }), assetType: "fiat" },
    ...{ specificData: { type: "COIN" } },
    ...(ticker === "USD" ? {} : { providers: { coingecko: `${currencyPrefix}${ticker.toLowerCase()}` } })
  }))
])

/** Lists the assets that ship, but for those that an origin with precedence has described. */
export const seed = Effect.gen(function* () {
  const assets = yield* Assets
  const listed = yield* assets.put(entries, "bundled")
  for (const [i, outcome] of listed.entries()) {
    if (outcome.kind !== "refused") continue
    yield* Effect.logWarning(`${entries[i]!.name} is not listed: ${outcome.field} ${outcome.message}`)
  }
})
