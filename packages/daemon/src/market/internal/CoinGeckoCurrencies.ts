/** The rates of currencies, which CoinGecko gives as units for one bitcoin and without a time: that of the answer. */
import * as Rate from "@headwater/core/market/Rate"
import { Assets, type ProviderLink } from "@headwater/indexer/store/market/Assets"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ingest from "../Ingest.ts"
import { nothing, type Work } from "../Provider.ts"
import * as Answer from "./CoinGeckoAnswer.ts"
import { type CoinGeckoApi, provider, unreadable } from "./CoinGeckoApi.ts"

/** What the id of a currency begins with, so that no currency is taken for a coin. */
export const currencyPrefix = "currency:"

export const isCurrency = ({ providerId }: ProviderLink) => providerId.startsWith(currencyPrefix)

const quotesOf = Effect.fnUntraced(function* (api: CoinGeckoApi, links: ReadonlyArray<ProviderLink>) {
  const json = yield* Effect.catchTag(api.get("/exchange_rates", {}), "NotListed", () =>
    Effect.fail(unreadable("there are no exchange rates"))
  )
  const at = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const { rates } = yield* Effect.mapError(Effect.fromResult(Answer.decodeExchangeRates(json)), unreadable)
  const dollars = rates.usd
  if (dollars === undefined) return yield* unreadable("there is no rate of the dollar")
  return links.flatMap(({ asset, providerId }): ReadonlyArray<Ingest.ProviderQuote> => {
    const rate = rates[providerId.slice(currencyPrefix.length)]
    if (rate === undefined) return []
    const amount = Rate.quotient(dollars.value, rate.value)
    const quote = amount === undefined ? { problem: "value: is not above zero" } : { amount, at }
    return [{ name: providerId, asset, quote }]
  })
})

export const work = Effect.fnUntraced(function* (api: CoinGeckoApi) {
  const assets = yield* Assets
  const links = (yield* assets.linked(provider)).filter(isCurrency)
  return {
    total: links.length,
    run: Effect.fnUntraced(
      function* (advance) {
        if (links.length === 0) return nothing
        const summary = yield* Ingest.quotes(provider, yield* quotesOf(api, links))
        yield* advance(links.length)
        return summary
      },
      Effect.provideService(Assets, assets)
    )
  } satisfies Work
})
