/** Answers the operations on market data. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import type { Asset, AssetBySymbol } from "../contract/MarketData.ts"
import { MarketData } from "../operations/Operations.ts"
import * as Pages from "../server/Pages.ts"

/** With the type in the letters in which clients that ask by the symbol know it. */
const bySymbol = ({ specificData, ...item }: typeof Asset.Type): typeof AssetBySymbol.Type => ({
  ...item,
  specificData: { ...specificData, type: specificData.type.toLowerCase() }
})

export const layer = HttpApiBuilder.group(
  Api,
  "marketData",
  Effect.fnUntraced(function* (handlers) {
    const market = yield* MarketData
    const { assetById, assetBySlug, assetBySymbol, assets } = market
    return handlers.handleAll({
      assetById: ({ params }) => Effect.map(assetById(params.assetId), (item) => ({ item })),
      assetBySymbol: ({ params }) =>
        Effect.map(assetBySymbol(params.assetSymbol), (item) => ({ item: bySymbol(item) })),
      assetBySlug: ({ params }) => Effect.map(assetBySlug(params.assetSlug), (item) => ({ item })),
      assets: ({ query }) => Pages.byOffset(query, 50, assets),
      supportedAssets: ({ query: { type, ...query } }) =>
        Pages.byOffset(query, 10, (page) =>
          market.supportedAssets({ ...page, ...(type === undefined ? {} : { type }) })
        ),
      rateById: ({ params, query }) =>
        Effect.map(
          market.rateById({ from: params.fromAssetId, to: params.toAssetId, at: query.calculationTimestamp }),
          (item) => ({ item })
        ),
      rateBySymbol: ({ params, query }) =>
        Effect.map(
          market.rateBySymbol({
            from: params.fromAssetSymbol,
            to: params.toAssetSymbol,
            at: query.calculationTimestamp
          }),
          (item) => ({ item })
        )
    })
  })
)
