/**
 * The HTTP API of java-tron nodes: JSON posted to a path, one or several nodes asked as if they were one.
 *
 * Numbers that a float could change are read as text: amounts in sun go beyond 2^53.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as BytesInFlight from "../node/BytesInFlight.ts"
import * as Failover from "../node/Failover.ts"
import * as JsonAnswer from "../node/JsonAnswer.ts"
import { answerTooLarge, type NodeError, NodeInconsistent, NodeRejected, NodeUnreachable } from "../node/NodeError.ts"
import * as NodeHttp from "../node/NodeHttp.ts"

export interface TronHttpOptions {
  /** In order of preference, without `/wallet`. */
  readonly urls: readonly [string, ...Array<string>]
  readonly headers?: Readonly<Record<string, string>>
  /** Of one attempt; 60 s. */
  readonly timeoutMillis?: number
  /** Attempts over all nodes before a request fails. */
  readonly attempts?: number
  /** Connections per node; 16. */
  readonly connections?: number
}

export interface TronHttp {
  /** Host and port of the node that was asked last. */
  readonly name: string
  /** Posts JSON to a path (`/wallet/getnowblock`). A path that the node has not is `NodeRejected` with the code 404. */
  readonly post: (path: string, body?: string) => Effect.Effect<unknown, NodeError>
  /** An answer to `path`, read by a schema: one that does not fit is `NodeInconsistent`. */
  readonly decode: <A>(
    schema: Schema.ConstraintDecoder<A>,
    path: string,
    answer: unknown
  ) => Effect.Effect<A, NodeInconsistent>
  /** As `post`, read by a schema: an answer that does not fit is `NodeInconsistent`. */
  readonly read: <A>(schema: Schema.ConstraintDecoder<A>, path: string, body?: string) => Effect.Effect<A, NodeError>
  /** As `read`; undefined where the answer is an empty object, which is how nodes say that they do not have it. */
  readonly find: <A>(
    schema: Schema.ConstraintDecoder<A>,
    path: string,
    body?: string
  ) => Effect.Effect<A | undefined, NodeError>
}

/** A client of all nodes, and of each. */
export interface Nodes extends TronHttp, Failover.Shared<TronHttp> {}

/** How the API says that something went wrong, with status 200. */
const isError = Schema.is(Schema.Struct({ Error: Schema.String }))

/** The node limits its callers, or is not up yet. */
const passing = /lack of computing resources|rate limit|too many|exceed|busy|not ready|timeout/i

const notFound = 404
const methodNotAllowed = 405
const tooManyRequests = 429

const isNothing = (answer: unknown): boolean => Predicate.isReadonlyObject(answer) && Object.keys(answer).length === 0

const maxMessage = 300
const maxRetryAfterMillis = 30_000

/** What a reply means; the failure says whether to try again. */
const answerOf = Effect.fnUntraced(function* (
  http: NodeHttp.NodeHttp,
  path: string,
  reply: NodeHttp.Reply
): Effect.fn.Return<unknown, Failover.Failure> {
  const waitMillis = Math.min((reply.retryAfter ?? 0) * 1000, maxRetryAfterMillis)
  const fail = (error: NodeError, retry: boolean) => Effect.fail({ error, retry, waitMillis })
  const rejected = (code: number, message: string) => new NodeRejected({ node: http.name, method: path, code, message })
  const unreachable = (message: string) => new NodeUnreachable({ node: http.name, method: path, message })

  if (reply.status === notFound || reply.status === methodNotAllowed) {
    return yield* fail(rejected(notFound, "the node has no such path"), false)
  }
  const answer = yield* Effect.result(JsonAnswer.parseWithoutNulls(reply.body, "decimalText"))
  if (Result.isSuccess(answer) && isError(answer.success)) {
    const message = http.redact(answer.success.Error).slice(0, maxMessage)
    return yield* fail(rejected(0, message), reply.status === tooManyRequests || passing.test(message))
  }
  if (reply.status !== 200) return yield* fail(unreachable(`HTTP ${reply.status}`), true)
  if (Result.isSuccess(answer)) return answer.success
  return yield* fail(unreachable("the answer is not JSON: truncated, or not a node's"), true)
})

/** Connections are closed with the scope. Dies where a URL is not http(s): settings are checked before. */
export const make = Effect.fnUntraced(function* (
  options: TronHttpOptions
): Effect.fn.Return<Nodes, never, Scope.Scope> {
  const nodes = yield* Effect.forEach(options.urls, (text) => {
    const url = URL.parse(text)
    return url?.protocol === "http:" || url?.protocol === "https:"
      ? NodeHttp.make({
          url,
          headers: options.headers ?? {},
          timeoutMillis: options.timeoutMillis ?? 60_000,
          connections: options.connections ?? 16
        })
      : Effect.die(new Error("Tron nodes have URLs that begin with http or https"))
  })
  const failover = Failover.make(nodes, options.attempts)
  const bytesInFlight = yield* BytesInFlight.Current

  const clientOf = (failover: Failover.Failover<NodeHttp.NodeHttp>): TronHttp => {
    const post: TronHttp["post"] = (path, body = "{}") =>
      bytesInFlight.request(
        failover.ask((http) =>
          http.post(body, path).pipe(
            Effect.mapError(
              ({ reason, tooLarge }): Failover.Failure => ({
                error: tooLarge
                  ? answerTooLarge(http.name, path, reason)
                  : new NodeUnreachable({ node: http.name, method: path, message: http.redact(reason) }),
                retry: tooLarge !== true,
                waitMillis: 0
              })
            ),
            Effect.flatMap((reply) => answerOf(http, path, reply))
          )
        )
      )

    const decoded = <A>(schema: Schema.ConstraintDecoder<A>, path: string, answer: unknown) =>
      Effect.mapError(Schema.decodeUnknownEffect(schema)(answer), (error) => {
        const message = error.message.slice(0, maxMessage)
        return new NodeInconsistent({ node: failover.current().name, method: path, message })
      })

    return {
      get name() {
        return failover.current().name
      },
      post,
      decode: decoded,
      read: (schema, path, body) => Effect.flatMap(post(path, body), (answer) => decoded(schema, path, answer)),
      find: (schema, path, body) =>
        Effect.flatMap(post(path, body), (answer) =>
          isNothing(answer) ? Effect.undefined : decoded(schema, path, answer)
        )
    }
  }

  return Object.assign(clientOf(failover), Failover.share(failover, clientOf))
})
