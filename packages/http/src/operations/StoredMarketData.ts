/** Answers the operations on market data from the store. */

import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import { type AssetNotFound, Assets, type RateNotAvailable } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ResourceNotFound } from "../contract/Errors.ts"
import { MarketData, type MarketOperations } from "./Operations.ts"

/** An unknown asset and an asset whose rate is too old are both not found; the message says which. */
const found = <A>(self: Effect.Effect<A, AssetNotFound | RateNotAvailable | DatabaseError>) =>
  Effect.catchTags(self, {
    AssetNotFound: ({ message }) => Effect.fail(new ResourceNotFound({ message })),
    RateNotAvailable: ({ message }) => Effect.fail(new ResourceNotFound({ message })),
    DatabaseError: Effect.die
  })

export const layer = Layer.effect(
  MarketData,
  Effect.map(
    Assets,
    (assets): MarketOperations => ({
      assetById: (id) => found(assets.byId(id)),
      assetBySymbol: (symbol) => found(assets.bySymbol(symbol)),
      assetBySlug: (slug) => found(assets.bySlug(slug)),
      assets: (page) => Effect.orDie(assets.list(page))
    })
  )
)
