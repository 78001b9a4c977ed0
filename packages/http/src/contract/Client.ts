/**
 * A typed client of the interface, made from the contract. It runs wherever there is `fetch`: in browsers and in Node.
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

/** The client on top of any `HttpClient`. */
export const make = ({ apiKey, baseUrl }: Options) =>
  HttpApiClient.make(Api, {
    baseUrl,
    transformClient: HttpClient.mapRequest(
      HttpClientRequest.setHeaders({
        "x-api-key": Redacted.isRedacted(apiKey) ? Redacted.value(apiKey) : apiKey,
        "x-api-version": apiVersion
      })
    )
  })

/** The client on top of `fetch`. */
export const makeFetch = (options: Options) => Effect.provide(make(options), FetchHttpClient.layer)

export type Client = Effect.Success<ReturnType<typeof make>>
