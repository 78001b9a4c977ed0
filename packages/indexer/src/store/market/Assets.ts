/**
 * Market data: the catalogue of assets, and what they cost.
 *
 * Answers come from here alone, never from a provider: with the provider down, or with no internet at all, the last
 * good values stay, each with the time at which it was true.
 */
import type { Asset, Entry } from "@headwater/core/market/Asset"
import type * as Rate from "@headwater/core/market/Rate"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UnixTime from "../../UnixTime.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { AssetOrigin } from "../database/tables/MarketTables.ts"
import * as AssetDetails from "./internal/AssetDetails.ts"
import * as AssetListing from "./internal/AssetListing.ts"
import * as AssetPage from "./internal/AssetPage.ts"
import * as AssetRates from "./internal/AssetRates.ts"
import * as ExchangeRates from "./internal/ExchangeRates.ts"
import * as ProviderLinks from "./internal/ProviderLinks.ts"

export { AssetNotFound, RateNotAvailable } from "./internal/AssetDetails.ts"
export type { ListingResult } from "./internal/AssetListing.ts"
export type { ListedAsset } from "./internal/AssetPage.ts"
export type { AssetQuote } from "./internal/AssetRates.ts"
export { PairNotAvailable } from "./internal/ExchangeRates.ts"
export type { ProviderLink } from "./internal/ProviderLinks.ts"

type Found = Effect.Effect<Asset, AssetDetails.AssetNotFound | AssetDetails.RateNotAvailable | DatabaseError>

export class Assets extends Context.Service<
  Assets,
  {
    readonly byId: (referenceId: string) => Found
    /** In any letter case. */
    readonly bySymbol: (symbol: string) => Found
    readonly bySlug: (slug: string) => Found
    /** What one asset costs in another, both by their ids or both by their symbols. */
    readonly exchangeRate: (
      by: "id" | "symbol",
      pair: ExchangeRates.Pair
    ) => Effect.Effect<
      ExchangeRates.ExchangeRate,
      AssetDetails.AssetNotFound | ExchangeRates.PairNotAvailable | DatabaseError
    >
    /** The catalogue in the order in which it grew. */
    readonly list: (
      page: AssetPage.PageRequest
    ) => Effect.Effect<{ readonly items: ReadonlyArray<AssetPage.ListedAsset>; readonly total: number }, DatabaseError>
    /** The numbers of listed assets in the store, by their slugs. */
    readonly idsOf: (slugs: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, number>, DatabaseError>
    /** Puts entries into the catalogue, at best some hundreds at once; what became of each entry, in their order. */
    readonly put: (
      entries: ReadonlyArray<Entry>,
      origin: AssetOrigin
    ) => Effect.Effect<ReadonlyArray<AssetListing.ListingResult>, DatabaseError>
    /** Keeps the quotes that are believed; for each of the others why it is not believed, in their order. */
    readonly record: (
      quotes: ReadonlyArray<AssetRates.AssetQuote>
    ) => Effect.Effect<ReadonlyArray<Rate.Disbelief | undefined>, DatabaseError>
    /** Every asset that a provider knows. */
    readonly linked: (provider: string) => Effect.Effect<ReadonlyArray<ProviderLinks.ProviderLink>, DatabaseError>
    /** Notes that a provider was asked to describe an asset just now, whatever the provider answered. */
    readonly setDescribed: (provider: string, providerId: string) => Effect.Effect<void, DatabaseError>
    /** Drops the rates that are older than 30 days, and most of those that are hours or days old. */
    readonly thin: Effect.Effect<void, DatabaseError>
  }
>()("@headwater/indexer/store/market/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.suspend(() => make)
  )
}

/** Assets whose series are thinned in one transaction. */
const thinned = 1_000

const putAll = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>, origin: AssetOrigin) {
  const { transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  return yield* transaction(AssetListing.put(entries, origin, now))
})

/** Entry by entry, where two entries of a batch want the same slug or symbol, or another process has just taken one. */
const putEach = (entries: ReadonlyArray<Entry>, origin: AssetOrigin) =>
  Effect.forEach(entries, (entry) =>
    putAll([entry], origin).pipe(
      Effect.map(([listed]) => listed!),
      Effect.catchIf(
        (error) => error.duplicate,
        () => Effect.succeed(AssetListing.refused("slug", "or symbol is being listed by somebody else"))
      )
    )
  )

const put = (entries: ReadonlyArray<Entry>, origin: AssetOrigin) =>
  Effect.catchIf(
    putAll(entries, origin),
    (error) => error.duplicate,
    () => putEach(entries, origin)
  )

const idsOf = Effect.fnUntraced(function* (slugs: ReadonlyArray<string>) {
  const { read } = yield* Database
  const rows = yield* inChunks(slugs, (some) =>
    read((db) => db.selectFrom("asset").select(["id", "slug"]).where("slug", "in", some))
  )
  return new Map(rows.map(({ id, slug }) => [slug, id]))
})

const record = Effect.fnUntraced(function* (quotes: ReadonlyArray<AssetRates.AssetQuote>) {
  const { transaction } = yield* Database
  return yield* transaction(AssetRates.record(quotes, yield* UnixTime.seconds))
})

const thin = Effect.gen(function* () {
  const { read, transaction } = yield* Database
  const now = yield* UnixTime.seconds
  const [highest] = yield* read((db) => db.selectFrom("asset").select((eb) => eb.fn.max("id").as("id")))
  for (let after = 0; after < Number(highest?.id ?? 0); after += thinned) {
    yield* transaction(AssetRates.thin({ after, last: after + thinned }, now))
  }
})

const make = Effect.gen(function* () {
  const stored = Effect.provideService(Database, yield* Database)
  const find = Effect.fn("Assets.find")(AssetDetails.find, stored)
  return Assets.of({
    byId: (id) => find("id", id),
    bySymbol: (symbol) => find("symbol", symbol),
    bySlug: (slug) => find("slug", slug),
    exchangeRate: Effect.fn("Assets.exchangeRate")(ExchangeRates.find, stored),
    list: Effect.fn("Assets.list")(AssetPage.read, stored),
    idsOf: Effect.fn("Assets.idsOf")(idsOf, stored),
    put: Effect.fn("Assets.put")(put, stored),
    record: Effect.fn("Assets.record")(record, stored),
    linked: Effect.fn("Assets.linked")(ProviderLinks.of, stored),
    setDescribed: Effect.fn("Assets.setDescribed")(ProviderLinks.setDescribed, stored),
    thin: thin.pipe(Effect.withSpan("Assets.thin"), stored)
  })
})
