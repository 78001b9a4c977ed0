/** The rates of currencies, which CoinGecko gives as units for one bitcoin and without a time: that of the answer. */
import * as Rate from "@headwater/core/market/Rate"
import { Assets, type ProviderLink } from "@headwater/indexer/store/market/Assets"
import * as UnixTime from "@headwater/indexer/UnixTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
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
  const at = yield* UnixTime.seconds
  const { rates } = yield* Effect.mapError(Effect.fromResult(Answer.decodeExchangeRates(json)), unreadable)
  if (rates.usd === undefined) return yield* unreadable("there is no rate of the dollar")
  const dollars = yield* Effect.mapError(Effect.fromResult(Answer.decodeExchangeRate(rates.usd)), unreadable)
  return links.flatMap(({ asset, providerId }): ReadonlyArray<Ingest.ProviderQuote> => {
    const shown = rates[providerId.slice(currencyPrefix.length)]
    if (shown === undefined) return []
    const rate = Answer.decodeExchangeRate(shown)
    if (Result.isFailure(rate)) return [{ name: providerId, asset, quote: { problem: rate.failure } }]
    const amount = Rate.quotient(dollars.value, rate.success.value)
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
