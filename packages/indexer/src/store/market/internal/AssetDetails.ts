/** All that the store has of one asset: its entry, its latest quote and its logo. */
import type { Asset } from "@headwater/core/market/Asset"
import * as Rate from "@headwater/core/market/Rate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as AssetRates from "./AssetRates.ts"

/** The catalogue has no such asset. */
export class AssetNotFound extends Schema.TaggedError<AssetNotFound>()("AssetNotFound", {
  by: Schema.Literals(["id", "symbol", "slug"])
}) {
  override get message() {
    return `There is no asset with this ${this.by}`
  }
}

/** The catalogue has the asset, but no rate of the asset from the last 30 days. */
export class RateNotAvailable extends Schema.TaggedError<RateNotAvailable>()("RateNotAvailable", {
  name: Schema.String
}) {
  override get message() {
    return `There is no rate of ${this.name} from the last 30 days`
  }
}

/** What an asset without a logo of its own is shown as: a coin without a face. */
const noLogo = {
  encoding: "base64",
  imageData: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#9aa3ad"/><circle cx="16" cy="16" r="9" fill="none" stroke="#fff" stroke-width="2"/></svg>`
  ).toString("base64"),
  mimeType: "image/svg+xml"
}

/** The rate of the currency that rates are counted in, which no provider quotes. */
const unitQuote = (asset: number): Row<"asset_quote"> => ({
  ...{ asset, amount: "1", at: 0, change_1h: "0", change_24h: "0", change_1w: "0" },
  ...{ volume_24h: null, market_cap: null, circulating_supply: null, max_supply: null }
})

/** The latest quote of an asset. Fails where there is none from the last 30 days. */
const quoteOf = Effect.fnUntraced(function* (asset: Row<"asset">) {
  if (AssetRates.isUnit(asset)) return unitQuote(asset.id)
  const { read } = yield* Database
  const [quote] = yield* read((db) => db.selectFrom("asset_quote").selectAll().where("asset", "=", asset.id))
  if (quote === undefined || quote.at < (yield* AssetRates.oldest)) {
    return yield* new RateNotAvailable({ name: asset.name })
  }
  return quote
})

const logoOf = Effect.fnUntraced(function* (asset: number) {
  const { read } = yield* Database
  const [logo] = yield* read((db) => db.selectFrom("asset_logo").selectAll().where("asset", "=", asset))
  return logo === undefined
    ? noLogo
    : { encoding: "base64", imageData: Buffer.from(logo.data).toString("base64"), mimeType: logo.mime_type }
})

/** Written by the listing only, from checked entries. */
const contractsOf = (row: Row<"asset">) => JSON.parse(row.contracts) as Asset["contracts"]

const details = Effect.fnUntraced(function* (row: Row<"asset">) {
  const quote = yield* quoteOf(row)
  const changes = yield* AssetRates.changes(quote)
  return {
    contracts: contractsOf(row),
    latestRate: {
      amount: quote.amount,
      unit: Rate.unit,
      ...(AssetRates.isUnit(row) ? {} : { calculationTimestamp: quote.at })
    },
    logo: yield* logoOf(row.id),
    name: row.name,
    originalSymbol: row.original_symbol,
    referenceId: row.reference_id,
    slug: row.slug,
    symbol: row.symbol,
    type: row.asset_type,
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

/** The entry of an id, of a symbol in any letter case, or of a slug. */
export const rowOf = Effect.fnUntraced(function* (by: AssetNotFound["by"], value: string) {
  const { read } = yield* Database
  const column = by === "id" ? "reference_id" : by
  const key = by === "symbol" ? value.toUpperCase() : value
  const [row] = yield* read((db) => db.selectFrom("asset").selectAll().where(column, "=", key))
  return row ?? (yield* new AssetNotFound({ by }))
})

/** The asset of an id, of a symbol in any letter case, or of a slug. */
export const find = Effect.fnUntraced(function* (by: AssetNotFound["by"], value: string) {
  return yield* details(yield* rowOf(by, value))
})
