/** `/coins/markets`: assets by market capitalisation or by their ids, each with its quote in US dollars. */
import * as Effect from "effect/Effect"
import * as Answer from "./CoinGeckoAnswer.ts"
import { type CoinGeckoApi, unreadable } from "./CoinGeckoApi.ts"

/** Assets of one page: the API's maximum. */
export const pageSize = 250

const fixedParams = {
  ...{ vs_currency: "usd", price_change_percentage: "1h,24h,7d", precision: "full", sparkline: "false" },
  per_page: String(pageSize)
}

/** The rows of one page. */
export const page = Effect.fnUntraced(function* (api: CoinGeckoApi, params: Readonly<Record<string, string>>) {
  const json = yield* Effect.catchTag(api.get("/coins/markets", { ...fixedParams, ...params }), "NotListed", () =>
    Effect.succeed([])
  )
  return yield* Effect.mapError(Effect.fromResult(Answer.quotesOfMarkets(json)), unreadable)
})

/** The ids of the `count` largest assets by market capitalisation. */
export const largest = Effect.fnUntraced(function* (api: CoinGeckoApi, count: number) {
  const ids: Array<string> = []
  for (let number = 1; ids.length < count; number++) {
    const rows = yield* page(api, { order: "market_cap_desc", page: String(number) })
    ids.push(...rows.map(({ id }) => id))
    if (rows.length < pageSize) break
  }
  return ids.slice(0, count)
})
