/** What one asset costs in another, by the rates of both in US dollars. */
import * as Rate from "@headwater/core/market/Rate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as UnixTime from "../../../UnixTime.ts"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as AssetDetails from "./AssetDetails.ts"
import * as AssetRates from "./AssetRates.ts"

/** There is no rate of one of the assets for that moment. */
export class PairNotAvailable extends Schema.TaggedError<PairNotAvailable>()("PairNotAvailable", {
  message: Schema.String
}) {}

export interface Pair {
  readonly from: string
  readonly to: string
  /** In seconds since the Unix epoch; the newest rates if not given. */
  readonly at?: number | undefined
}

export interface ExchangeRate {
  /** When the older one of the two rates was true. */
  readonly calculationTimestamp: number
  readonly fromAssetId: string
  readonly fromAssetSymbol: string
  /** Units of `to` for one of `from`. */
  readonly rate: string
  readonly toAssetId: string
  readonly toAssetSymbol: string
}

/** Of rates that are days old one stands for six hours. */
const reachSeconds = 21_600

/** Digits after the point: a token of 10^-12 dollars has thirteen of them in bitcoins. */
const decimals = 30

/** The rate of an asset that was the last one at a moment, or the newest. */
const rateOf = Effect.fnUntraced(function* (asset: Row<"asset">, at: number | undefined, now: number) {
  const { read } = yield* Database
  if (AssetRates.isUnit(asset)) return { amount: "1", at: at ?? now }
  const [found] = yield* at === undefined
    ? read((db) =>
        db
          .selectFrom("asset_quote")
          .select(["amount", "at"])
          .where("asset", "=", asset.id)
          .where("at", ">=", now - Rate.maxAgeSeconds)
      )
    : read((db) =>
        db
          .selectFrom("asset_rate")
          .select(["amount", "at"])
          .where("asset", "=", asset.id)
          .where("at", "<=", at)
          .where("at", ">", Math.max(at - reachSeconds, now - Rate.maxAgeSeconds))
          .orderBy("at", "desc")
          .limit(1)
      )
  const when = at === undefined ? "from the last 30 days" : `for the moment ${at}`
  return found ?? (yield* new PairNotAvailable({ message: `There is no rate of ${asset.name} ${when}` }))
})

/** The exchange rate of two assets, each by the same name. */
export const find = Effect.fnUntraced(function* (by: AssetDetails.AssetNotFound["by"], pair: Pair) {
  const now = yield* UnixTime.seconds
  const from = yield* AssetDetails.rowOf(by, pair.from)
  const to = yield* AssetDetails.rowOf(by, pair.to)
  const [cost, price] = [yield* rateOf(from, pair.at, now), yield* rateOf(to, pair.at, now)]
  const rate = Rate.quotient(cost.amount, price.amount, decimals)
  if (rate === undefined) return yield* new PairNotAvailable({ message: `The rate of ${to.name} is not above zero` })
  return {
    calculationTimestamp: Math.min(cost.at, price.at),
    ...{ fromAssetId: from.reference_id, fromAssetSymbol: from.symbol, rate },
    ...{ toAssetId: to.reference_id, toAssetSymbol: to.symbol }
  } satisfies ExchangeRate
})
