/** The catalogue page by page, in the order in which it grew. */
import type { Asset } from "@headwater/core/market/Asset"
import * as Rate from "@headwater/core/market/Rate"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import * as AssetRates from "./AssetRates.ts"

/** An asset in the list: without logo, contracts and figures. */
export interface ListedAsset extends Pick<Asset, "name" | "originalSymbol" | "referenceId" | "slug" | "symbol"> {
  readonly assetType: "crypto" | "fiat"
  readonly type: string
  /** Absent where there is none from the last 30 days. */
  readonly latestRate?: Asset["latestRate"]
}

export interface PageRequest {
  readonly limit: number
  readonly offset: number
  /** Those of this type alone. */
  readonly assetType?: "crypto" | "fiat" | undefined
}

/** The assets of a page, and how many there are in all. */
export const read = Effect.fnUntraced(function* ({ assetType, limit, offset }: PageRequest) {
  const { read } = yield* Database
  const oldest = yield* AssetRates.oldest
  const rows = yield* read((db) =>
    db
      .selectFrom("asset")
      .leftJoin("asset_quote", (join) =>
        join.onRef("asset_quote.asset", "=", "asset.id").on("asset_quote.at", ">=", oldest)
      )
      .select(["asset_type", "subtype", "name", "original_symbol", "reference_id", "slug", "symbol", "amount", "at"])
      .$if(assetType !== undefined, (all) => all.where("asset_type", "=", assetType!))
      .orderBy("asset.id")
      .limit(limit)
      .offset(offset)
  )
  const [count] = yield* read((db) =>
    db
      .selectFrom("asset")
      .$if(assetType !== undefined, (all) => all.where("asset_type", "=", assetType!))
      .select((eb) => eb.fn.countAll<number>().as("total"))
  )
  const items = rows.map(
    (row): ListedAsset => ({
      assetType: row.asset_type,
      type: row.subtype,
      name: row.name,
      originalSymbol: row.original_symbol,
      referenceId: row.reference_id,
      slug: row.slug,
      symbol: row.symbol,
      ...(AssetRates.isUnit(row)
        ? { latestRate: { amount: "1", unit: Rate.unit } }
        : row.amount === null || row.at === null
          ? {}
          : { latestRate: { amount: row.amount, unit: Rate.unit, calculationTimestamp: row.at } })
    })
  )
  return { items, total: count!.total }
})
