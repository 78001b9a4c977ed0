/** The latest quote of each asset, and the series of its rates: 30 days, fewer rates the older they are. */
import * as Rate from "@headwater/core/market/Rate"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as UnixTime from "../../../UnixTime.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"

/** A quote and the asset that it is of. */
export interface AssetQuote extends Rate.Quote {
  readonly asset: number
}

/** A rate from before this moment is not shown. */
export const oldest = Effect.map(UnixTime.seconds, (now) => now - Rate.maxAgeSeconds)

/** Whether the asset is the currency that rates are counted in: its rate is one, at any time. */
export const isUnit = (asset: Pick<Row<"asset">, "asset_type" | "original_symbol">) =>
  asset.asset_type === "fiat" && asset.original_symbol === Rate.unit

const columns = [
  ...["amount", "at", "change_1h", "change_24h", "change_1w"],
  ...["volume_24h", "market_cap", "circulating_supply", "max_supply"]
]
const replace = `on conflict (asset) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}
  where asset_quote.at <= excluded.at`

const toRow = (quote: AssetQuote): Row<"asset_quote"> => ({
  asset: quote.asset,
  amount: quote.amount,
  at: quote.at,
  change_1h: quote.change1h ?? null,
  change_24h: quote.change24h ?? null,
  change_1w: quote.change1w ?? null,
  volume_24h: quote.volume24h ?? null,
  market_cap: quote.marketCap ?? null,
  circulating_supply: quote.circulatingSupply ?? null,
  max_supply: quote.maxSupply ?? null
})

/**
 * Keeps the quotes that are believed; for each quote why it is not believed, or undefined. `now` is in seconds since the
 * Unix epoch.
 */
export const record = Effect.fnUntraced(function* (
  quotes: ReadonlyArray<AssetQuote>,
  now: number
): Effect.fn.Return<ReadonlyArray<Rate.Disbelief | undefined>, DatabaseError, Database> {
  const { insertMany, numbers, query } = yield* Database
  const assets = quotes.map(({ asset }) => asset)
  const known = yield* query((db) =>
    db
      .selectFrom("asset_quote")
      .select(["asset", "amount", "at"])
      .where(sql<boolean>`asset in ${numbers(assets)}`)
  )
  const last = new Map<number, Rate.Rate>(known.map(({ asset, ...rate }) => [asset, rate]))
  const believed = new Map<number, AssetQuote>()
  const series = new Map<string, Row<"asset_rate">>()
  const verdicts = quotes.map((quote) => {
    const reason = Rate.disbelief(quote, last.get(quote.asset), now)
    if (reason !== undefined) return reason
    last.set(quote.asset, quote)
    believed.set(quote.asset, quote)
    series.set(`${quote.asset} ${quote.at}`, { asset: quote.asset, at: quote.at, amount: quote.amount })
    return undefined
  })
  yield* insertMany("asset_quote", [...believed.values()].map(toRow), replace)
  yield* insertMany(
    "asset_rate",
    [...series.values()],
    "on conflict (asset, at) do update set amount = excluded.amount"
  )
  return verdicts
})

/** The changes of a rate: as the provider quotes them, else computed from the series. */
export const changes = Effect.fnUntraced(function* (
  quote: Row<"asset_quote">
): Effect.fn.Return<Readonly<Record<keyof typeof Rate.periods, string | undefined>>, DatabaseError, Database> {
  const { read } = yield* Database
  const quoted = {
    change1h: quote.change_1h ?? undefined,
    change24h: quote.change_24h ?? undefined,
    change1w: quote.change_1w ?? undefined
  }
  if (!Object.values(quoted).includes(undefined)) return quoted
  const series = yield* read((db) =>
    db
      .selectFrom("asset_rate")
      .select(["at", "amount"])
      .where("asset", "=", quote.asset)
      .where("at", ">=", quote.at - Math.ceil(Rate.periods.change1w * 1.1))
      .where("at", "<", quote.at)
      .orderBy("at")
  )
  const computed = (name: keyof typeof Rate.periods) => {
    const period = Rate.periods[name]
    const from = Rate.nearest(series, quote.at - period, period)
    return quoted[name] ?? (from === undefined ? undefined : Rate.changeInPercent(from.amount, quote.amount))
  }
  return { change1h: computed("change1h"), change24h: computed("change24h"), change1w: computed("change1w") }
})

/** How many seconds a rate stands for, by its age in seconds: one a minute for two hours, one an hour for two days. */
const steps = [
  { from: 0, to: 7_200, step: 60 },
  { from: 7_200, to: 172_800, step: 3_600 },
  { from: 172_800, to: Rate.maxAgeSeconds, step: 21_600 }
]

/** Thins the series of the assets `after < id <= last`: of each step the first rate stays; none is older than 30 days. */
export const thin = Effect.fnUntraced(function* (
  { after, last }: { readonly after: number; readonly last: number },
  now: number
): Effect.fn.Return<void, DatabaseError, Database> {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("asset_rate")
      .where("asset", ">", after)
      .where("asset", "<=", last)
      .where("at", "<", now - Rate.maxAgeSeconds)
  )
  for (const { from, step, to } of steps) {
    yield* query(
      rows(sql`
        delete from asset_rate
        where asset > ${after} and asset <= ${last} and at < ${now - from} and at >= ${now - to}
          and exists (
            select 1 from asset_rate earlier
            where earlier.asset = asset_rate.asset
              and earlier.at >= asset_rate.at - asset_rate.at % ${sql.lit(step)}
              and earlier.at < asset_rate.at
          )`)
    )
  }
})
