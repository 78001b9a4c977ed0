/**
 * CoinGecko as a provider (docs.coingecko.com, API v3): what assets there are, what they cost, and what currencies
 * cost, each on a schedule of its own.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Rate from "@headwater/core/market/Rate"
import { Assets, type ProviderLink } from "@headwater/indexer/store/market/Assets"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Ingest from "./Ingest.ts"
import * as Answer from "./internal/CoinGeckoAnswer.ts"
import * as Api from "./internal/CoinGeckoApi.ts"
import type { CoinGeckoSettings } from "./MarketSettings.ts"
import { nothing, type Provider, ProviderError, plus, type Task, type Work } from "./Provider.ts"

/** Assets of one page or request: the API's maximum. */
const pageSize = 250

/** What the id of a currency begins with, so that it is never taken for a coin's. */
export const currencyPrefix = "currency:"

const plans = {
  public: { url: "https://api.coingecko.com/api/v3", header: "", requestsPerMinute: 10 },
  demo: { url: "https://api.coingecko.com/api/v3", header: "x-cg-demo-api-key", requestsPerMinute: 30 },
  pro: { url: "https://pro-api.coingecko.com/api/v3", header: "x-cg-pro-api-key", requestsPerMinute: 300 }
} as const

const apiOptions = (settings: CoinGeckoSettings, waits: Partial<typeof Api.defaults>): Api.Options => {
  const { key } = settings
  const plan = plans[key === undefined ? "public" : settings.plan]
  return {
    ...Api.defaults,
    url: (settings.url ?? plan.url).replace(/\/+$/, ""),
    key: key === undefined ? undefined : { header: plan.header, value: key },
    requestsPerMinute: settings.requestsPerMinute ?? plan.requestsPerMinute,
    ...waits
  }
}

const unreadable = (problem: string) =>
  new ProviderError({ provider: Api.provider, message: `CoinGecko's answer cannot be read: ${problem}` })

const marketParams = { vs_currency: "usd", price_change_percentage: "1h,24h,7d", precision: "full", sparkline: "false" }

const coinParams = {
  localization: "false",
  tickers: "false",
  community_data: "false",
  developer_data: "false",
  sparkline: "false"
}

const dayMillis = 86_400_000

/** One asset that cannot be read is left for the next day; after so many in a row the rest is, too. */
const patience = 3

/** Assets that are described before their quotes are kept together. */
const quotesTogether = 50

const isCurrency = ({ providerId }: ProviderLink) => providerId.startsWith(currencyPrefix)

/** `waits` is for tests: how long requests take and pause. */
export const make = Effect.fnUntraced(function* (
  settings: CoinGeckoSettings,
  waits: Partial<typeof Api.defaults> = {}
) {
  const assets = yield* Assets
  const context = yield* Effect.context<Assets>()
  const api = yield* Api.make(apiOptions(settings, waits))

  const quotes = (said: ReadonlyArray<Ingest.Said>) => Effect.provide(Ingest.quotes(Api.provider, said), context)

  /** A page of markets. */
  const markets = Effect.fnUntraced(function* (params: Readonly<Record<string, string>>) {
    const json = yield* Effect.catchTag(
      api.get("/coins/markets", { ...marketParams, ...params, per_page: String(pageSize) }),
      "NotListed",
      () => Effect.succeed([])
    )
    return yield* Effect.mapError(Effect.fromResult(Answer.quotesOfMarkets(json)), unreadable)
  })

  /** The ids of the largest assets by market capitalisation. */
  const largest = Effect.gen(function* () {
    const ids: Array<string> = []
    for (let page = 1; ids.length < settings.top; page++) {
      const rows = yield* markets({ order: "market_cap_desc", page: String(page) })
      ids.push(...rows.map(({ id }) => id))
      if (rows.length < pageSize) break
    }
    return ids.slice(0, settings.top)
  })

  /** Lists what an answer on one coin says, or says anew; its quote is `said`. */
  const list = Effect.fnUntraced(function* (json: unknown, said: Array<Ingest.Said>) {
    const coin = yield* Effect.mapError(Effect.fromResult(Answer.decodeCoin(json)), unreadable)
    const link = settings.logos ? Answer.imageOfCoin(coin) : undefined
    const image = link === undefined ? undefined : yield* api.image(link)
    const entry = Answer.entryOfCoin(coin, image === undefined ? undefined : Answer.logoOf(image))
    if (Result.isFailure(entry)) {
      yield* Effect.logWarning(`CoinGecko's ${coin.id} cannot be listed: ${entry.failure}`)
      return { ...nothing, refused: 1 }
    }
    const { outcomes, summary } = yield* Effect.provide(Ingest.entries([entry.success], "coingecko"), context)
    const [outcome] = outcomes
    if (outcome === undefined || outcome.kind === "refused") {
      yield* Effect.logWarning(
        `CoinGecko's ${coin.id} cannot be listed: its ${outcome?.field} ${outcome?.message}. An entry of the operator's file with providers.coingecko = "${coin.id}" would settle it`
      )
      return summary
    }
    const quote = Answer.quoteOfCoin(coin)
    if (quote !== undefined) yield* Effect.sync(() => said.push({ name: coin.id, asset: outcome.asset, quote }))
    return summary
  })

  /** Reads one coin; undefined where CoinGecko could not be asked, and should be asked again. */
  const describe = Effect.fnUntraced(function* (path: string, id: string | undefined, said: Array<Ingest.Said>) {
    const answer = Effect.flatMap(api.get(path, coinParams), (json) => list(json, said))
    const described = yield* Effect.result(answer)
    if (Result.isFailure(described)) {
      const { failure } = described
      if (failure._tag === "DatabaseError") return yield* failure
      if (failure._tag === "ProviderError" && failure.retryAfter !== undefined) return yield* failure
      yield* Effect.logWarning(failure._tag === "NotListed" ? `CoinGecko does not know ${path}` : failure.message)
      if (failure._tag === "ProviderError") return undefined
    }
    if (id !== undefined) yield* assets.setDescribed(Api.provider, id)
    return Result.isSuccess(described) ? described.success : { ...nothing, refused: 1 }
  })

  const contractPath = (text: string) => {
    const [blockchain = "", network = "", address = ""] = text.split("/")
    const chain = Chain.live.find((chain) => chain.blockchain === blockchain && chain.network === network)
    const platform = chain?.coinGeckoPlatform
    return platform === undefined ? undefined : `/coins/${platform}/contract/${address}`
  }

  /** Lists assets that are new, and reads again those that were read long ago. */
  const catalogue: Task["work"] = Effect.gen(function* () {
    const links = (yield* assets.linked(Api.provider)).filter((link) => !isCurrency(link))
    const known = new Set(links.map(({ providerId }) => providerId))
    const wanted = [...new Set([...settings.ids, ...(yield* largest)])]
    const long = (yield* Clock.currentTimeMillis) - settings.describeDays * dayMillis
    const old = links.filter(({ described }) => described < long).sort((a, b) => a.described - b.described)
    const ids = [...wanted.filter((id) => !known.has(id)), ...old.map(({ providerId }) => providerId)]
    const paths = [
      ...settings.contracts.flatMap((text) => contractPath(text) ?? []).map((path) => ({ path, id: undefined })),
      ...ids.map((id) => ({ path: `/coins/${encodeURIComponent(id)}`, id }))
    ]
    return {
      total: paths.length,
      run: Effect.fnUntraced(function* (advance) {
        let summary = nothing
        let failures = 0
        for (const some of Arr.chunksOf(paths, quotesTogether)) {
          const said: Array<Ingest.Said> = []
          for (const { id, path } of some) {
            const described = yield* describe(path, id, said)
            failures = described === undefined ? failures + 1 : 0
            if (failures === patience) return yield* unreadable(`${patience} assets in a row could not be read`)
            summary = plus(summary, described ?? { ...nothing, refused: 1 })
            yield* advance(1)
          }
          summary = plus(summary, yield* quotes(said))
        }
        return summary
      })
    } satisfies Work
  })

  /** The rates of every asset that is linked. */
  const rates: Task["work"] = Effect.gen(function* () {
    const links = (yield* assets.linked(Api.provider)).filter((link) => !isCurrency(link))
    return {
      total: links.length,
      run: Effect.fnUntraced(function* (advance) {
        let summary = nothing
        for (const batch of Arr.chunksOf(links, pageSize)) {
          const assetOf = new Map(batch.map(({ asset, providerId }) => [providerId, asset]))
          const rows = yield* markets({ ids: [...assetOf.keys()].join(",") })
          const said = rows.flatMap(({ id, quote }) => {
            const asset = assetOf.get(id)
            return asset === undefined || quote === undefined ? [] : { name: id, asset, quote }
          })
          summary = plus(summary, yield* quotes(said))
          yield* advance(batch.length)
        }
        return summary
      })
    } satisfies Work
  })

  /** The rates of currencies, which are told as units for one bitcoin, without a time: true when they were read. */
  const currencies: Task["work"] = Effect.gen(function* () {
    const links = (yield* assets.linked(Api.provider)).filter(isCurrency)
    return {
      total: links.length,
      run: Effect.fnUntraced(function* (advance) {
        if (links.length === 0) return nothing
        const json = yield* Effect.catchTag(api.get("/exchange_rates", {}), "NotListed", () =>
          Effect.fail(unreadable("there are no exchange rates"))
        )
        const at = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const { rates } = yield* Effect.mapError(Effect.fromResult(Answer.decodeExchangeRates(json)), unreadable)
        const dollars = rates.usd
        if (dollars === undefined) return yield* unreadable("there is no rate of the dollar")
        const said = links.flatMap(({ asset, providerId }): ReadonlyArray<Ingest.Said> => {
          const rate = rates[providerId.slice(currencyPrefix.length)]
          if (rate === undefined) return []
          const amount = Rate.quotient(dollars.value, rate.value)
          const quote = amount === undefined ? { problem: "value: is not above zero" } : { amount, at }
          return [{ name: providerId, asset, quote }]
        })
        const summary = yield* quotes(said)
        yield* advance(links.length)
        return summary
      })
    } satisfies Work
  })

  const unsupported = settings.contracts.filter((text) => contractPath(text) === undefined)
  if (unsupported.length > 0) {
    yield* Effect.logWarning(`CoinGecko does not know the chains of ${unsupported.join(", ")}`)
  }

  return {
    name: Api.provider,
    tasks: [
      { name: "catalogue", everyMillis: dayMillis, work: catalogue },
      { name: "rates", everyMillis: settings.ratesMinutes * 60_000, work: rates },
      { name: "currencies", everyMillis: settings.currenciesMinutes * 60_000, work: currencies }
    ]
  } satisfies Provider
})
