/** Lists the assets that the settings want of CoinGecko, and describes again those that were described long ago. */
import * as Chain from "@headwater/core/chains/Chain"
import { Assets, type ProviderLink } from "@headwater/indexer/store/market/Assets"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Ingest from "../Ingest.ts"
import type { CoinGeckoSettings } from "../MarketSettings.ts"
import { nothing, plus, type Summary, type Task } from "../Provider.ts"
import * as Answer from "./CoinGeckoAnswer.ts"
import { type CoinGeckoApi, provider, unreadable } from "./CoinGeckoApi.ts"
import { isCurrency } from "./CoinGeckoCurrencies.ts"
import * as Markets from "./CoinGeckoMarkets.ts"

const coinParams = {
  localization: "false",
  tickers: "false",
  community_data: "false",
  developer_data: "false",
  sparkline: "false"
}

const dayMillis = 86_400_000

/** An asset that cannot be read is left for the next run; after so many in a row the run fails. */
const failuresInARow = 3

/** Assets that are described before their quotes are kept together. */
const quotesTogether = 50

/** A coin to read: its path in the API, and the coin's id where that is known. */
interface Wanted {
  readonly path: string
  readonly id: string | undefined
}

/** A coin that was read: what came of its entry, and its quote if there is one. */
interface Described {
  readonly summary: Summary
  readonly quote?: Ingest.ProviderQuote
}

const refused: Described = { summary: { ...nothing, refused: 1 } }

const contractPath = (contract: string) => {
  const [blockchain = "", network = "", address = ""] = contract.split("/")
  const chain = Chain.live.find((chain) => chain.blockchain === blockchain && chain.network === network)
  const platform = chain?.coinGeckoPlatform
  return platform === undefined ? undefined : `/coins/${platform}/contract/${address}`
}

/** The contracts of the settings whose chains CoinGecko does not have. */
export const unsupported = ({ contracts }: Pick<CoinGeckoSettings, "contracts">) =>
  contracts.filter((contract) => contractPath(contract) === undefined)

/** The coins of the settings' contracts, then new ids, then the coins that were described longest ago. */
const wantedCoins = (
  { contracts, describeDays }: CoinGeckoSettings,
  ids: ReadonlyArray<string>,
  links: ReadonlyArray<ProviderLink>,
  now: number
): ReadonlyArray<Wanted> => {
  const known = new Set(links.map(({ providerId }) => providerId))
  const old = links
    .filter(({ described }) => described < now - describeDays * dayMillis)
    .sort((a, b) => a.described - b.described)
  return [
    ...contracts.flatMap((contract) => contractPath(contract) ?? []).map((path) => ({ path, id: undefined })),
    ...[...ids.filter((id) => !known.has(id)), ...old.map(({ providerId }) => providerId)].map((id) => ({
      path: `/coins/${encodeURIComponent(id)}`,
      id
    }))
  ]
}

/** Puts the coin of an answer into the catalogue, as a new asset or in place of the last description. */
const list = Effect.fnUntraced(function* (api: CoinGeckoApi, { logos }: CoinGeckoSettings, json: unknown) {
  const coin = yield* Effect.mapError(Effect.fromResult(Answer.decodeCoin(json)), unreadable)
  const link = logos ? Answer.imageOfCoin(coin) : undefined
  const image = link === undefined ? undefined : yield* api.image(link)
  const entry = Answer.entryOfCoin(coin, image === undefined ? undefined : Answer.logoOf(image))
  if (Result.isFailure(entry)) {
    yield* Effect.logWarning(`CoinGecko's ${coin.id} cannot be listed: ${entry.failure}`)
    return refused
  }
  const { outcomes, summary } = yield* Ingest.entries([entry.success], provider)
  const [outcome] = outcomes
  if (outcome === undefined || outcome.kind === "refused") {
    yield* Effect.logWarning(
      `CoinGecko's ${coin.id} cannot be listed: its ${outcome?.field} ${outcome?.message}. An entry of the operator's file with providers.coingecko = "${coin.id}" would settle it`
    )
    return { summary } satisfies Described
  }
  const quote = Answer.quoteOfCoin(coin)
  return {
    summary,
    ...(quote === undefined ? {} : { quote: { name: coin.id, asset: outcome.asset, quote } })
  } satisfies Described
})

/** Reads one coin; undefined where CoinGecko gave no readable answer, and should be asked again with the next run. */
const describe = Effect.fnUntraced(function* (api: CoinGeckoApi, settings: CoinGeckoSettings, { id, path }: Wanted) {
  const described = yield* Effect.result(Effect.flatMap(api.get(path, coinParams), (json) => list(api, settings, json)))
  if (Result.isFailure(described)) {
    const { failure } = described
    if (failure._tag === "DatabaseError") return yield* failure
    if (failure._tag === "ProviderError" && failure.retryAfter !== undefined) return yield* failure
    yield* Effect.logWarning(failure._tag === "NotListed" ? `CoinGecko does not know ${path}` : failure.message)
    if (failure._tag === "ProviderError") return undefined
  }
  if (id !== undefined) yield* (yield* Assets).setDescribed(provider, id)
  return Result.isSuccess(described) ? described.success : refused
})

const run = Effect.fnUntraced(function* (
  api: CoinGeckoApi,
  settings: CoinGeckoSettings,
  coins: ReadonlyArray<Wanted>,
  advance: (pieces: number) => Effect.Effect<void>
) {
  let summary = nothing
  let failures = 0
  for (const some of Arr.chunksOf(coins, quotesTogether)) {
    const quotes: Array<Ingest.ProviderQuote> = []
    for (const coin of some) {
      const described = yield* describe(api, settings, coin)
      failures = described === undefined ? failures + 1 : 0
      if (failures === failuresInARow) {
        return yield* unreadable(`${failuresInARow} assets in a row could not be read`)
      }
      summary = plus(summary, (described ?? refused).summary)
      if (described?.quote !== undefined) quotes.push(described.quote)
      yield* advance(1)
    }
    summary = plus(summary, yield* Ingest.quotes(provider, quotes))
  }
  return summary
})

export const work = Effect.fnUntraced(function* (api: CoinGeckoApi, settings: CoinGeckoSettings) {
  const assets = yield* Assets
  const links = (yield* assets.linked(provider)).filter((link) => !isCurrency(link))
  const ids = new Set([...settings.ids, ...(yield* Markets.largest(api, settings.top))])
  const coins = wantedCoins(settings, [...ids], links, yield* Clock.currentTimeMillis)
  return {
    total: coins.length,
    run: (advance) => Effect.provideService(run(api, settings, coins, advance), Assets, assets)
  } satisfies Effect.Success<Task["work"]>
})
