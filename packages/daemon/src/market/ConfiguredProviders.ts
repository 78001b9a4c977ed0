/** The providers that the settings ask for. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { Settings } from "../settings/Settings.ts"
import * as CoinGecko from "./CoinGecko.ts"
import * as FileProvider from "./FileProvider.ts"
import { type Provider, Providers } from "./Provider.ts"

/** Redirects are not followed: an API key goes to the place that was configured, and nowhere else. */
export const httpClient = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

export const layer = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const { coingecko, file } = (yield* Settings).marketData
    const providers: Array<Provider> = []
    if (file !== undefined) providers.push(yield* FileProvider.make(file))
    if (coingecko !== undefined) providers.push(yield* CoinGecko.make(coingecko))
    return providers
  })
).pipe(Layer.provide(httpClient))
