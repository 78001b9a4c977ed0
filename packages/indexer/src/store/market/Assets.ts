/**
 * Market data: the catalogue of assets, and what they cost.
 *
 * Answers come from here alone, never from a provider: with the provider down, or with no internet at all, the last
 * good values stay, each with the time at which it was true.
 */
import type { Asset, Entry } from "@headwater/core/market/Asset"
import * as Rate from "@headwater/core/market/Rate"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Kysely } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { AssetOrigin, Row, Tables } from "../database/Tables.ts"
import * as AssetListing from "./internal/AssetListing.ts"
import * as AssetRates from "./internal/AssetRates.ts"

export type { ListingResult } from "./internal/AssetListing.ts"
export type { AssetQuote } from "./internal/AssetRates.ts"

/** The catalogue has no such asset. */
export class AssetNotFound extends Schema.TaggedError<AssetNotFound>()("AssetNotFound", {
  by: Schema.Literals(["id", "symbol", "slug"])
}) {
  override get message() {
    return `There is no asset with this ${this.by}`
  }
}

/** The catalogue has the asset, but no rate of it from the last 30 days. */
export class RateNotAvailable extends Schema.TaggedError<RateNotAvailable>()("RateNotAvailable", {
  name: Schema.String
}) {
  override get message() {
    return `There is no rate of ${this.name} from the last 30 days`
  }
}

/** An asset in the list: without logo, contracts and figures. */
export interface ListedAsset extends Pick<Asset, "name" | "originalSymbol" | "referenceId" | "slug" | "symbol"> {
  readonly assetType: "crypto" | "fiat"
  readonly type: string
  /** Absent where there is none from the last 30 days. */
  readonly latestRate?: Asset["latestRate"]
}

/** What a provider calls an asset. */
export interface ProviderLink {
  readonly providerId: string
  readonly asset: number
  readonly assetType: "crypto" | "fiat"
  /** When the provider last described it, in milliseconds since the Unix epoch; 0 for never. */
  readonly described: number
}

type Found = Effect.Effect<Asset, AssetNotFound | RateNotAvailable | DatabaseError>

export class Assets extends Context.Service<
  Assets,
  {
    readonly byId: (referenceId: string) => Found
    /** In any letter case. */
    readonly bySymbol: (symbol: string) => Found
    readonly bySlug: (slug: string) => Found
    /** The catalogue in the order in which it grew. */
    readonly list: (page: {
      readonly limit: number
      readonly offset: number
    }) => Effect.Effect<{ readonly items: ReadonlyArray<ListedAsset>; readonly total: number }, DatabaseError>
    /** Lists entries, at best some hundreds at once; what became of each, in their order. */
    readonly put: (
      entries: ReadonlyArray<Entry>,
      origin: AssetOrigin
    ) => Effect.Effect<ReadonlyArray<AssetListing.ListingResult>, DatabaseError>
    /** Keeps the quotes that are believed; why each of the others is not, in their order. */
    readonly record: (
      quotes: ReadonlyArray<AssetRates.AssetQuote>
    ) => Effect.Effect<ReadonlyArray<Rate.Disbelief | undefined>, DatabaseError>
    /** Every asset that a provider knows. */
    readonly linked: (provider: string) => Effect.Effect<ReadonlyArray<ProviderLink>, DatabaseError>
    /** Notes that a provider was asked to describe an asset, whatever came of it. */
    readonly setDescribed: (provider: string, providerId: string) => Effect.Effect<void, DatabaseError>
    /** Drops the rates that are too old, and those that the series has too many of. */
    readonly thin: Effect.Effect<void, DatabaseError>
  }
>()("@headwater/indexer/store/market/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.suspend(() => make)
  )
}

/** What an asset without a logo of its own is shown as: a coin without a face. */
const noLogo = {
  encoding: "base64",
  imageData: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#9aa3ad"/><circle cx="16" cy="16" r="9" fill="none" stroke="#fff" stroke-width="2"/></svg>`
  ).toString("base64"),
  mimeType: "image/svg+xml"
}

/** Written by this module only, from checked entries. */
const contractsOf = (row: Row<"asset">) => JSON.parse(row.contracts) as Asset["contracts"]

/** The rate of the currency that rates are counted in is one, at any time. */
const isUnit = (row: Pick<Row<"asset">, "asset_type" | "original_symbol">) =>
  row.asset_type === "fiat" && row.original_symbol === Rate.unit

const emptyQuote = (asset: number): Row<"asset_quote"> => ({
  ...{ asset, amount: "1", at: 0, change_1h: "0", change_24h: "0", change_1w: "0" },
  ...{ volume_24h: null, market_cap: null, circulating_supply: null, max_supply: null }
})

const seconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

/** Assets whose series are thinned in one statement. */
const thinned = 1_000

const make = Effect.gen(function* () {
  const database = yield* Database
  const { query, read, transaction } = database

  const answer = Effect.fnUntraced(function* (row: Row<"asset">) {
    const of = <T extends "asset_quote" | "asset_logo">(table: T) =>
      read((db: Kysely<Tables>) =>
        db
          .selectFrom(table as "asset_quote")
          .selectAll()
          .where("asset", "=", row.id)
      ) as Effect.Effect<ReadonlyArray<Row<T>>, DatabaseError>
    const fixed = isUnit(row)
    const quote = fixed ? emptyQuote(row.id) : (yield* of("asset_quote"))[0]
    if (quote === undefined || (!fixed && quote.at < (yield* seconds) - Rate.maxAgeSeconds)) {
      return yield* new RateNotAvailable({ name: row.name })
    }
    const changes = yield* Effect.provideService(AssetRates.changes(quote), Database, database)
    const [logo] = yield* of("asset_logo")
    return {
      contracts: contractsOf(row),
      latestRate: {
        amount: quote.amount,
        unit: Rate.unit,
        ...(fixed ? {} : { calculationTimestamp: quote.at })
      },
      logo:
        logo === undefined
          ? noLogo
          : {
              encoding: "base64",
              imageData: Buffer.from(logo.data).toString("base64"),
              mimeType: logo.mime_type
            },
      name: row.name,
      originalSymbol: row.original_symbol,
      referenceId: row.reference_id,
      slug: row.slug,
      symbol: row.symbol,
      specificData: {
        "1HourPriceChangeInPercentage": changes.change1h ?? "",
        "1WeekPriceChangeInPercentage": changes.change1w ?? "",
        "24HoursPriceChangeInPercentage": changes.change24h ?? "",
        "24HoursTradingVolume": quote.volume_24h ?? "",
        circulatingSupply: quote.circulating_supply ?? "",
        marketCapInUSD: quote.market_cap ?? "",
        maxSupply: quote.max_supply ?? "",
        type: row.subtype
      }
    } satisfies Asset
  })

  const find = Effect.fn("Assets.find")(function* (by: AssetNotFound["by"], value: string) {
    const column = by === "id" ? "reference_id" : by
    const key = by === "symbol" ? value.toUpperCase() : value
    const [row] = yield* read((db) => db.selectFrom("asset").selectAll().where(column, "=", key))
    return row === undefined ? yield* new AssetNotFound({ by }) : yield* answer(row)
  })

  const list: Assets["Service"]["list"] = Effect.fn("Assets.list")(function* ({ limit, offset }) {
    const oldest = (yield* seconds) - Rate.maxAgeSeconds
    const rows = yield* read((db) =>
      db
        .selectFrom("asset")
        .leftJoin("asset_quote", (join) =>
          join.onRef("asset_quote.asset", "=", "asset.id").on("asset_quote.at", ">=", oldest)
        )
        .select(["asset_type", "subtype", "name", "original_symbol", "reference_id", "slug", "symbol", "amount", "at"])
        .orderBy("asset.id")
        .limit(limit)
        .offset(offset)
    )
    const [count] = yield* read((db) => db.selectFrom("asset").select((eb) => eb.fn.countAll<number>().as("total")))
    const items = rows.map(
      (row): ListedAsset => ({
        assetType: row.asset_type,
        type: row.subtype,
        name: row.name,
        originalSymbol: row.original_symbol,
        referenceId: row.reference_id,
        slug: row.slug,
        symbol: row.symbol,
        ...(isUnit(row)
          ? { latestRate: { amount: "1", unit: Rate.unit } }
          : row.amount === null || row.at === null
            ? {}
            : { latestRate: { amount: row.amount, unit: Rate.unit, calculationTimestamp: row.at } })
      })
    )
    return { items, total: count!.total }
  })

  const putAll = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>, origin: AssetOrigin) {
    const now = yield* Clock.currentTimeMillis
    return yield* transaction(AssetListing.put(entries, origin, now))
  })

  /** One by one, where entries of a batch are in each other's way. */
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

  const put: Assets["Service"]["put"] = Effect.fn("Assets.put")(function* (entries, origin) {
    return yield* putAll(entries, origin).pipe(
      Effect.catchIf(
        (error) => error.duplicate,
        () => putEach(entries, origin)
      )
    )
  })

  const record: Assets["Service"]["record"] = Effect.fn("Assets.record")(function* (quotes) {
    return yield* transaction(AssetRates.record(quotes, yield* seconds))
  })

  const linked = Effect.fn("Assets.linked")(function* (provider: string) {
    const rows = yield* read((db) =>
      db
        .selectFrom("asset_provider")
        .innerJoin("asset", "asset.id", "asset_provider.asset")
        .select(["provider_id", "asset", "asset_type", "described"])
        .where("provider", "=", provider)
        .orderBy("provider_id")
    )
    return rows.map(
      ({ asset, asset_type, described, provider_id }): ProviderLink => ({
        providerId: provider_id,
        asset,
        assetType: asset_type,
        described
      })
    )
  })

  const setDescribed = Effect.fn("Assets.setDescribed")(function* (provider: string, providerId: string) {
    const described = yield* Clock.currentTimeMillis
    yield* query((db) =>
      db
        .updateTable("asset_provider")
        .set({ described })
        .where("provider", "=", provider)
        .where("provider_id", "=", providerId)
    )
  })

  const thin = Effect.gen(function* () {
    const now = yield* seconds
    const [highest] = yield* read((db) => db.selectFrom("asset").select((eb) => eb.fn.max("id").as("id")))
    for (let after = 0; after < Number(highest?.id ?? 0); after += thinned) {
      yield* transaction(AssetRates.thin({ after, last: after + thinned }, now))
    }
  }).pipe(Effect.withSpan("Assets.thin"))

  return Assets.of({
    byId: (id) => find("id", id),
    bySymbol: (symbol) => find("symbol", symbol),
    bySlug: (slug) => find("slug", slug),
    list,
    put,
    record,
    linked,
    setDescribed,
    thin
  })
})
