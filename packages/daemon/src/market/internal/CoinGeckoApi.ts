/**
 * Calls to CoinGecko's API: no more a minute than the plan allows, one at a time; told to wait, it waits; what fails in
 * passing is asked again. Numbers of an answer are text, so that none goes through a float.
 */
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as MarketMetrics from "../MarketMetrics.ts"
import { ProviderError } from "../Provider.ts"

/** What the provider is called in the store, in metrics and in the log. */
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
  /** The longest wait that the provider may ask for; told to wait longer, the work fails. */
  readonly patienceMillis: number
}

export const defaults = { timeoutMillis: 30_000, backoffMillis: 1_000, patienceMillis: 120_000 }

/** Requests until a call fails. */
const attempts = 4

/** Wait after a 429 that does not say how long. */
const limitedMillis = 60_000

/** A page of 250 assets has about 200 KB, a coin with all its text and markets about 500 KB. */
const maxAnswerBytes = 16_777_216
const maxImageBytes = 262_144

interface Reply {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** Why there is no reply. */
interface NoReply {
  readonly reason: string
}

/** The code of the system's error, if there is one deep inside: the rest of the message might repeat a header. */
const noReply = (error: unknown): NoReply => {
  let cause = error
  for (let depth = 0; depth < 5 && typeof cause === "object" && cause !== null; depth++) {
    const { code } = cause as { readonly code?: unknown }
    if (typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)) return { reason: `did not answer (${code})` }
    cause = "cause" in cause ? cause.cause : undefined
  }
  return { reason: "did not answer, or not to the end" }
}

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

export const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* HttpClient.HttpClient
  const one = yield* Semaphore.make(1)
  const interval = 60_000 / options.requestsPerMinute
  /** When the next request may be made. */
  let free = 0

  const fetch = (request: HttpClientRequest.HttpClientRequest, maxBytes: number) =>
    Effect.gen(function* () {
      const response = yield* Effect.mapError(client.execute(request), noReply)
      const chunks: Array<Uint8Array> = []
      let bytes = 0
      yield* response.stream.pipe(
        Stream.mapError(noReply),
        Stream.runForEach((chunk) => {
          bytes += chunk.length
          chunks.push(chunk)
          return bytes > maxBytes ? Effect.fail<NoReply>({ reason: `sent more than ${maxBytes} bytes` }) : Effect.void
        })
      )
      const { status } = response
      return { status, retryAfter: response.headers["retry-after"], body: Buffer.concat(chunks) } satisfies Reply
    }).pipe(
      Effect.timeoutOrElse({
        duration: options.timeoutMillis,
        orElse: () => Effect.fail<NoReply>({ reason: `did not answer within ${options.timeoutMillis} ms` })
      }),
      // A span would hold the URL, and with it what an operator's own may hold of secrets.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )

  /** Waits for the request's turn. */
  const turn = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (free > now) yield* Effect.sleep(free - now)
    free = Math.max(free, now) + interval
  })

  /** One request of a call; what is wrong in passing comes back as a reason. */
  const ask = Effect.fnUntraced(function* (path: string, request: HttpClientRequest.HttpClientRequest) {
    yield* turn
    const reply = yield* Effect.result(fetch(request, maxAnswerBytes))
    if (Result.isFailure(reply)) {
      yield* MarketMetrics.requested(provider, "failed")
      return Result.fail(reply.failure.reason)
    }
    const { body, retryAfter, status } = reply.success
    if (status === 429) {
      yield* MarketMetrics.requested(provider, "limited")
      const wait = waitOf(retryAfter)
      if (wait > options.patienceMillis)
        return yield* fail(`wants to be left alone for ${Math.ceil(wait / 1000)} s`, wait)
      free = Math.max(free, (yield* Clock.currentTimeMillis) + wait)
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
    const reply = yield* Effect.result(fetch(HttpClientRequest.get(link), maxImageBytes))
    if (Result.isSuccess(reply) && reply.success.status === 200) return reply.success.body
    yield* Effect.logDebug(`No image from ${link}`)
    return undefined
  })

  return { get, image }
})

export type CoinGeckoApi = Effect.Success<ReturnType<typeof make>>
