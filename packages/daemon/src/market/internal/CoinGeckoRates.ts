/** The rates of every asset that the catalogue has from CoinGecko, but for currencies. */
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Ingest from "../Ingest.ts"
import { nothing, plus, type Work } from "../Provider.ts"
import { type CoinGeckoApi, provider } from "./CoinGeckoApi.ts"
import { isCurrency } from "./CoinGeckoCurrencies.ts"
import * as Markets from "./CoinGeckoMarkets.ts"

export const work = Effect.fnUntraced(function* (api: CoinGeckoApi) {
  const assets = yield* Assets
  const links = (yield* assets.linked(provider)).filter((link) => !isCurrency(link))
  return {
    total: links.length,
    run: Effect.fnUntraced(
      function* (advance) {
        let summary = nothing
        for (const batch of Arr.chunksOf(links, Markets.pageSize)) {
          const assetOf = new Map(batch.map(({ asset, providerId }) => [providerId, asset]))
          const rows = yield* Markets.page(api, { ids: [...assetOf.keys()].join(",") })
          const quotes = rows.flatMap(({ id, quote }) => {
            const asset = assetOf.get(id)
            return asset === undefined || quote === undefined ? [] : { name: id, asset, quote }
          })
          summary = plus(summary, yield* Ingest.quotes(provider, quotes))
          yield* advance(batch.length)
        }
        return summary
      },
      Effect.provideService(Assets, assets)
    )
  } satisfies Work
})
