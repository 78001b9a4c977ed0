/**
 * The span of a request. The route's template stands in place of the path, and nothing is said of query and headers:
 * paths hold extended keys, queries what callers know their requests by, headers API keys. The framework's own span
 * holds the whole URL, so that it is not made.
 */
import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"

/** Ends the framework's spans. */
export const layer = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

/** The span of a request that is answered with a status of 5xx has failed; the answer goes out. */
class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", { message: Schema.String }) {}

const inSpan = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.gen(function* () {
    const { headers, method } = yield* HttpServerRequest.HttpServerRequest
    let response: HttpServerResponse.HttpServerResponse | undefined
    const judged = Effect.flatMap(answer, (answered) => {
      response = answered
      const { status } = answered
      return Effect.andThen(
        Effect.annotateCurrentSpan("http.response.status_code", status),
        status < 500 ? Effect.void : new ServerFailed({ message: `answered ${status}` })
      )
    })
    return yield* judged.pipe(
      Effect.withSpan(
        method,
        {
          kind: "server",
          parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(headers)),
          attributes: { "http.request.method": method }
        },
        { captureStackTrace: false }
      ),
      Effect.catchTag("ServerFailed", () => Effect.void),
      Effect.map(() => response!)
    )
  })

/**
 * Puts a request and its answer into a span, in the trace that the caller names; the router adds the route. Without an
 * exporter nobody would see the span, so that none is made.
 */
export const traced = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) => {
  const spanned = inSpan(answer)
  return Effect.flatMap(
    Tracer.Tracer,
    (tracer): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
      tracer === Tracer.nativeTracer ? answer : spanned
  )
}
