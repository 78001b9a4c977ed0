/**
 * A typed client of the interface, made from the contract. The client runs wherever there is `fetch`: in browsers and in
 * Node.
 *
 * Every operation gives plain data and fails with the errors of the interface: `Effect.catchTag("already_exists", …)`.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Redacted from "effect/Redacted"
import { Api } from "./Api.ts"
import { apiVersion } from "./Envelope.ts"

export interface Options {
  readonly baseUrl: URL | string
  readonly apiKey: Redacted.Redacted | string
}

/**
 * The client on top of any `HttpClient`. A test may bring one that answers without a network.
 *
 * @example
 * ```ts
 * import * as Client from "@headwater/http/contract/Client"
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 * import * as HttpClientResponse from "effect/http/HttpClientResponse"
 *
 * const answer = { apiVersion: "2024-12-12", requestId: "6f1b", data: { item: { available: 970 } } }
 * const httpClient = HttpClient.make((request) =>
 *   Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(answer)))
 * )
 * const balance = Effect.gen(function* () {
 *   const client = yield* Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" })
 *   const { item } = yield* client.credits.balance({ query: {} })
 *   return item.available
 * })
 * await Effect.runPromise(Effect.provideService(balance, HttpClient.HttpClient, httpClient)) // => 970
 * ```
 */
export const make = ({ apiKey, baseUrl }: Options): Effect.Effect<Client, never, HttpClient.HttpClient> =>
  HttpApiClient.make(Api, {
    baseUrl,
    transformClient: HttpClient.mapRequest(
      HttpClientRequest.setHeaders({
        "x-api-key": Redacted.isRedacted(apiKey) ? Redacted.value(apiKey) : apiKey,
        "x-api-version": apiVersion
      })
    )
  })

/**
 * The client on top of `fetch`. `Effect.runPromise` runs a program as a promise; errors are distinguished by their codes.
 *
 * @example
 * ```ts
 * import * as Client from "@headwater/http/contract/Client"
 * import * as Effect from "effect/Effect"
 *
 * export const available = Client.makeFetch({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" }).pipe(
 *   Effect.flatMap((client) => client.credits.balance({ query: {} })),
 *   Effect.map(({ item }) => item.available),
 *   Effect.catchTag("invalid_api_key", () => Effect.succeed(0))
 * )
 * export const run = () => Effect.runPromise(available)
 * ```
 */
export const makeFetch = (options: Options) => Effect.provide(make(options), FetchHttpClient.layer)

/** By name, since the types of all operations are too long to be written out. */
export interface Client extends HttpApiClient.ForApi<typeof Api> {}
