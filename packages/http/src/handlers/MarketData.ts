/** Answers the operations on market data. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../Api.ts"
import { MarketData } from "../Operations.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "marketData",
  Effect.fnUntraced(function* (handlers) {
    const { assetById } = yield* MarketData
    return handlers.handle("assetById", ({ params }) => Effect.map(assetById(params.assetId), (item) => ({ item })))
  })
)
