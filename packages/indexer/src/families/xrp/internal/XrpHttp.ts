/** One XRP server over JSON-RPC: `{method, params: [{…}]}`, without the envelope of JSON-RPC 2.0. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as JsonAnswer from "../../node/JsonAnswer.ts"
import * as NodeHttp from "../../node/NodeHttp.ts"
import * as XrpReply from "./XrpReply.ts"
import type { XrpServer } from "./XrpServer.ts"

const maxRetryAfterMillis = 30_000

export const make = Effect.fnUntraced(function* (options: {
  readonly url: URL
  readonly timeoutMillis: number
}): Effect.fn.Return<XrpServer, never, Scope.Scope> {
  const http = yield* NodeHttp.make({ ...options, headers: {}, connections: 16 })

  const request: XrpServer["request"] = Effect.fnUntraced(function* (command, params) {
    const reply = yield* http
      .post(JSON.stringify({ method: command, params: [params] }))
      .pipe(
        Effect.mapError(({ reason, tooLarge }) =>
          tooLarge
            ? XrpReply.tooLarge(http.name, command, reason)
            : XrpReply.unreachable(http.name, command, http.redact(reason))
        )
      )
    const answer = yield* Effect.result(JsonAnswer.parseWithoutNulls(reply.body, "plain"))
    if (reply.status !== 200 || Result.isFailure(answer)) {
      const waitMillis = Math.min((reply.retryAfter ?? 0) * 1000, maxRetryAfterMillis)
      const message = reply.status === 200 ? "the answer is not JSON" : `HTTP ${reply.status}`
      return yield* Effect.fail(XrpReply.unreachable(http.name, command, message, waitMillis))
    }
    return yield* Effect.fromResult(XrpReply.read(http.name, command, answer.success, http.redact))
  })

  return { name: http.name, request }
})
