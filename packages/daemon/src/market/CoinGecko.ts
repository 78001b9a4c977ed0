/**
 * CoinGecko as a provider (docs.coingecko.com, API v3): what assets there are, what they cost, and what currencies
 * cost, each on a schedule of its own.
 */
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Api from "./internal/CoinGeckoApi.ts"
import * as CoinGeckoCatalogue from "./internal/CoinGeckoCatalogue.ts"
import * as CoinGeckoCurrencies from "./internal/CoinGeckoCurrencies.ts"
import * as CoinGeckoRates from "./internal/CoinGeckoRates.ts"
import type { CoinGeckoSettings } from "./MarketSettings.ts"
import type { Provider } from "./Provider.ts"

export { currencyPrefix } from "./internal/CoinGeckoCurrencies.ts"

const plans = {
  public: { url: "https://api.coingecko.com/api/v3", header: "", requestsPerMinute: 10 },
  demo: { url: "https://api.coingecko.com/api/v3", header: "x-cg-demo-api-key", requestsPerMinute: 30 },
  pro: { url: "https://pro-api.coingecko.com/api/v3", header: "x-cg-pro-api-key", requestsPerMinute: 300 }
} as const

const apiOptions = (settings: CoinGeckoSettings, delays: Partial<typeof Api.defaults>): Api.Options => {
  const { key } = settings
  const plan = plans[key === undefined ? "public" : settings.plan]
  return {
    ...Api.defaults,
    url: (settings.url ?? plan.url).replace(/\/+$/, ""),
    key: key === undefined ? undefined : { header: plan.header, value: key },
    requestsPerMinute: settings.requestsPerMinute ?? plan.requestsPerMinute,
    ...delays
  }
}

const dayMillis = 86_400_000

/** `delays` is for tests: how long requests may take, and how long the pauses between attempts are. */
export const make = Effect.fnUntraced(function* (
  settings: CoinGeckoSettings,
  delays: Partial<typeof Api.defaults> = {}
) {
  const inCatalogue = Effect.provideService(Assets, yield* Assets)
  const api = yield* Api.make(apiOptions(settings, delays))
  const unsupported = CoinGeckoCatalogue.unsupported(settings)
  if (unsupported.length > 0) {
    yield* Effect.logWarning(`CoinGecko does not know the chains of ${unsupported.join(", ")}`)
  }
  const { currenciesMinutes, ratesMinutes } = settings
  return {
    name: Api.provider,
    tasks: [
      { name: "catalogue", everyMillis: dayMillis, work: inCatalogue(CoinGeckoCatalogue.work(api, settings)) },
      { name: "rates", everyMillis: ratesMinutes * 60_000, work: inCatalogue(CoinGeckoRates.work(api)) },
      { name: "currencies", everyMillis: currenciesMinutes * 60_000, work: inCatalogue(CoinGeckoCurrencies.work(api)) }
    ]
  } satisfies Provider
})
