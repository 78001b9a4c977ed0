/**
 * Calls to CoinGecko's API, one at a time, and no more a minute than the plan allows. Where CoinGecko asks for a pause,
 * the next call comes after the pause; a call that fails for a passing reason is made again. Numbers of an answer are
 * text, so that none goes through a float.
 */
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as MarketMetrics from "../MarketMetrics.ts"
import { ProviderError } from "../Provider.ts"
import * as HttpReply from "./HttpReply.ts"
import * as RequestPace from "./RequestPace.ts"

/** CoinGecko's name in the store, in metrics and in the log. */
export const provider = "coingecko"

/** CoinGecko has nothing of this name. */
export class NotListed extends Schema.TaggedError<NotListed>()("NotListed", { path: Schema.String }) {}

export interface Options {
  /** Up to and including the version: `https://api.coingecko.com/api/v3`. */
  readonly url: string
  readonly key: { readonly header: string; readonly value: Redacted.Redacted } | undefined
  readonly requestsPerMinute: number
  readonly timeoutMillis: number
  /** The first wait before a request is made again; it doubles. */
  readonly backoffMillis: number
  /** The longest wait that the provider may ask for; the work fails where the provider asks for a longer one. */
  readonly maxRetryAfterMillis: number
}

export const defaults = { timeoutMillis: 30_000, backoffMillis: 1_000, maxRetryAfterMillis: 120_000 }

/** Requests until a call fails. */
const attempts = 4

/** Wait after a 429 that does not say how long. */
const limitedMillis = 60_000

/** A page of 250 assets has about 200 KB, a coin with all its text and markets about 500 KB. */
const maxAnswerBytes = 16_777_216
const maxImageBytes = 262_144

/** Milliseconds of a `Retry-After` in seconds. */
const waitOf = (retryAfter: string | undefined): number => {
  const seconds = Number(retryAfter)
  return retryAfter !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : limitedMillis
}

const fail = (message: string, retryAfter?: number) =>
  new ProviderError({
    provider,
    message: `CoinGecko ${message}`,
    ...(retryAfter === undefined ? {} : { retryAfter: Math.round(retryAfter) })
  })

/** An answer of CoinGecko that is not what the API documents. */
export const unreadable = (problem: string) =>
  new ProviderError({ provider, message: `CoinGecko's answer cannot be read: ${problem}` })

export const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* HttpClient.HttpClient
  const one = yield* Semaphore.make(1)
  const pace = RequestPace.make(options.requestsPerMinute)
  const { timeoutMillis } = options

  /** One request of a call. The failure of the result is why the request may be made again. */
  const ask = Effect.fnUntraced(function* (path: string, request: HttpClientRequest.HttpClientRequest) {
    yield* pace.turn
    const reply = yield* Effect.result(HttpReply.fetch(client, request, { maxBytes: maxAnswerBytes, timeoutMillis }))
    if (Result.isFailure(reply)) {
      yield* MarketMetrics.requested(provider, "failed")
      return Result.fail(reply.failure.reason)
    }
    const { body, retryAfter, status } = reply.success
    if (status === 429) {
      yield* MarketMetrics.requested(provider, "limited")
      const wait = waitOf(retryAfter)
      if (wait > options.maxRetryAfterMillis)
        return yield* fail(`wants to be left alone for ${Math.ceil(wait / 1000)} s`, wait)
      yield* pace.pause(wait)
      return Result.fail("allows no more requests for the moment")
    }
    if (status === 404) {
      yield* MarketMetrics.requested(provider, "refused")
      return yield* new NotListed({ path })
    }
    if (status >= 500 || status === 408) {
      yield* MarketMetrics.requested(provider, "failed")
      return Result.fail(`answered ${status}`)
    }
    if (status !== 200) {
      yield* MarketMetrics.requested(provider, "refused")
      const hint = status === 401 || status === 403 ? ": is the key right, and of this plan?" : ""
      return yield* fail(`answered ${status} to ${path}${hint}`)
    }
    const json = Result.try({ try: (): unknown => DecimalText.parse(body), catch: () => "answered with broken JSON" })
    yield* MarketMetrics.requested(provider, Result.isSuccess(json) ? "answered" : "failed")
    return json
  })

  const requestTo = (path: string, params: Readonly<Record<string, string>>) =>
    HttpClientRequest.get(`${options.url}${path}`).pipe(
      HttpClientRequest.setUrlParams(params),
      HttpClientRequest.setHeaders({
        accept: "application/json",
        "user-agent": "Headwater",
        ...(options.key === undefined ? {} : { [options.key.header]: Redacted.value(options.key.value) })
      })
    )

  /** The JSON of an answer, its inexact numbers as text. */
  const get = Effect.fn("CoinGecko.get")(function* (path: string, params: Readonly<Record<string, string>>) {
    const request = requestTo(path, params)
    let problem = ""
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt > 0) {
        const share = yield* Random.next
        yield* Effect.sleep(options.backoffMillis * 2 ** (attempt - 1) * (0.75 + share / 2))
      }
      const answer = yield* ask(path, request)
      if (Result.isSuccess(answer)) return answer.success
      problem = answer.failure
      yield* Effect.logDebug(`CoinGecko ${problem} to ${path}`)
    }
    return yield* fail(`${problem} to ${path}`)
  }, one.withPermit)

  const origin = new URL(options.url).origin

  /** Images are fetched from CoinGecko's own hosts only, wherever an answer points. */
  const isOwn = (url: URL) =>
    url.origin === origin || (url.protocol === "https:" && /(^|\.)coingecko\.com$/.test(url.hostname))

  /** The bytes of an image; undefined where there is none to be had. */
  const image = Effect.fn("CoinGecko.image")(function* (link: string) {
    const url = Result.try(() => new URL(link))
    if (Result.isFailure(url) || !isOwn(url.success)) return undefined
    const reply = yield* Effect.result(
      HttpReply.fetch(client, HttpClientRequest.get(link), { maxBytes: maxImageBytes, timeoutMillis })
    )
    if (Result.isSuccess(reply) && reply.success.status === 200) return reply.success.body
    yield* Effect.logDebug(`No image from ${link}`)
    return undefined
  })

  return { get, image }
})

export type CoinGeckoApi = Effect.Success<ReturnType<typeof make>>
