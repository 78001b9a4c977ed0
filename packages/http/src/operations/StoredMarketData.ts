/** Answers the operations on market data from the store. */

import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import {
  type AssetNotFound,
  Assets,
  type PairNotAvailable,
  type RateNotAvailable
} from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../contract/Errors.ts"
import { MarketData, type MarketOperations } from "./Operations.ts"

/** An unknown asset and an asset whose rate is too old are both not found; the message says which. */
const found = <A>(self: Effect.Effect<A, AssetNotFound | RateNotAvailable | DatabaseError>) =>
  Effect.catchTags(self, {
    AssetNotFound: ({ message }) => Effect.fail(new Errors.ResourceNotFound({ message })),
    RateNotAvailable: ({ message }) => Effect.fail(new Errors.ResourceNotFound({ message })),
    DatabaseError: Effect.die
  })

const rate = <A>(self: Effect.Effect<A, AssetNotFound | PairNotAvailable | DatabaseError>) =>
  Effect.catchTags(self, {
    AssetNotFound: ({ message }) => Effect.fail(new Errors.ResourceNotFound({ message })),
    PairNotAvailable: ({ message }) => Effect.fail(new Errors.PairNotAvailable({ message })),
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
      assets: (page) => Effect.orDie(assets.list(page)),
      supportedAssets: ({ limit, offset, type }) =>
        Effect.map(Effect.orDie(assets.list({ limit, offset, assetType: type })), ({ items, total }) => ({
          total,
          items: items.map(({ assetType, name, originalSymbol, referenceId, symbol }) => ({
            ...{ name, originalSymbol, referenceId, symbol, type: assetType }
          }))
        })),
      rateById: (pair) => rate(assets.exchangeRate("id", pair)),
      rateBySymbol: (pair) => rate(assets.exchangeRate("symbol", pair))
    })
  )
)
