/** What providers call the assets of the catalogue. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"

/** What a provider calls an asset. */
export interface ProviderLink {
  readonly providerId: string
  readonly asset: number
  readonly assetType: "crypto" | "fiat"
  /** When the provider last described the asset, in milliseconds since the Unix epoch; 0 for never. */
  readonly described: number
}

/** Every asset that a provider knows. */
export const of = Effect.fnUntraced(function* (provider: string) {
  const { read } = yield* Database
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

/** Notes that a provider was asked to describe an asset just now, whatever the provider answered. */
export const setDescribed = Effect.fnUntraced(function* (provider: string, providerId: string) {
  const { query } = yield* Database
  const described = yield* Clock.currentTimeMillis
  yield* query((db) =>
    db
      .updateTable("asset_provider")
      .set({ described })
      .where("provider", "=", provider)
      .where("provider_id", "=", providerId)
  )
})
