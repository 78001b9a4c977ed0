/** The reply to an HTTP request, of bounded size and within a bounded time. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"

export interface Reply {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** Why there is no reply. */
export interface NoReply {
  readonly reason: string
}

export interface Limits {
  readonly maxBytes: number
  readonly timeoutMillis: number
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

/** Makes the request and reads the whole reply. Fails with a reason that holds no secret. */
export const fetch = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  { maxBytes, timeoutMillis }: Limits
): Effect.Effect<Reply, NoReply> =>
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
      duration: timeoutMillis,
      orElse: () => Effect.fail<NoReply>({ reason: `did not answer within ${timeoutMillis} ms` })
    }),
    // A span would hold the URL, and with the URL any secret that an operator has put there.
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )
