/** Gives every answer its envelope and headers, also answers that come from no operation. */
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { apiVersion, errorBody, maxContextLength, RequestInfo } from "../contract/Envelope.ts"
import type { Code } from "../contract/Errors.ts"
import { allowedMethods } from "./AllowedMethods.ts"
import * as HttpMetrics from "./HttpMetrics.ts"
import * as RequestTrace from "./RequestTrace.ts"

const isDatabaseError = Schema.is(DatabaseError)

const isContext = (value: unknown): value is string => typeof value === "string" && value.length <= maxContextLength

const queryContext = (url: string) => {
  const query = url.indexOf("?")
  if (query === -1) return undefined
  const context = new URLSearchParams(url.slice(query)).get("context")
  return isContext(context) ? context : undefined
}

/** The caller's `context`, if the request has one that can be read; the rest of the request may be malformed. */
const contextOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string | undefined> => {
  const ofQuery = queryContext(request.url)
  if (request.method !== "POST") return Effect.succeed(ofQuery)
  return request.json.pipe(
    Effect.map((body) => (Predicate.hasProperty(body, "context") && isContext(body.context) ? body.context : ofQuery)),
    Effect.orElseSucceed(() => ofQuery)
  )
}

const error = (status: number, code: Code, message: string, headers: Record<string, string> = {}) =>
  Effect.map(errorBody({ code, message }), (body) => HttpServerResponse.jsonUnsafe(body, { status, headers }))

/** Seconds after which a request that the store failed may be made again. */
const storeRetrySeconds = 5

/** The code of what a request depends on and does not answer: the interface has no other with this status. */
const storeFailed = error(503, "node_unavailable", "The server's store is out of order: try again later", {
  "retry-after": String(storeRetrySeconds)
})

const unexpected = error(500, "unexpected_server_error", "The request could not be completed")

/** Answers for failures outside of every operation. */
const refuse = (request: HttpServerRequest.HttpServerRequest, cause: Cause.Cause<unknown>) => {
  const failure = Cause.squash(cause)
  if (HttpServerError.isHttpServerError(failure)) {
    switch (failure.reason._tag) {
      case "RouteNotFound": {
        const allowed = allowedMethods(request.url).join(", ")
        return allowed === ""
          ? error(404, "uri_not_found", "There is no such path")
          : error(405, "method_not_allowed", `The path takes ${allowed}`, { allow: allowed })
      }
      case "RequestParseError":
        return failure.reason.reason === "BodyTooLarge"
          ? error(413, "payload_too_large", "The body is too large", { connection: "close" })
          : error(422, "invalid_request_body_structure", "The body could not be read")
    }
  }
  if (isDatabaseError(failure) && failure.storeFailed) {
    return Effect.andThen(Effect.logError(`Request failed, as the store does: ${failure.message}`), storeFailed)
  }
  return Effect.andThen(Effect.logError("Request failed", cause), unexpected)
}

/** Gives an answer of the framework itself the envelope. */
const inEnvelope = (response: HttpServerResponse.HttpServerResponse) =>
  response.status === 415
    ? error(415, "unsupported_media_type", "The body must be application/json")
    : Effect.succeed(response)

const checkVersion = (version: string | undefined) =>
  version === undefined || version === apiVersion
    ? undefined
    : error(400, "invalid_data", `x-api-version: "${version}" is not a version; supported: ${apiVersion}`)

const newRequestId = Effect.sync(() => crypto.randomUUID().replaceAll("-", "").slice(0, 24))

/** A change that is answered is on the disk, as far as the store's settings ask for that. */
const stored =
  ({ flush }: Database["Service"], info: RequestInfo) =>
  (response: HttpServerResponse.HttpServerResponse) =>
    Effect.gen(function* () {
      const { method } = yield* HttpServerRequest.HttpServerRequest
      if (info.operation !== undefined && method !== "GET" && response.status < 400) yield* flush
      return response
    })

export const layer = HttpRouter.middleware(
  Effect.map(
    Database,
    (database) => (handled) =>
      Effect.gen(function* () {
        const started = yield* Clock.currentTimeMillis
        const request = yield* HttpServerRequest.HttpServerRequest
        const info: RequestInfo = {
          id: yield* newRequestId,
          context: contextOf(request),
          operation: undefined,
          results: 0,
          headers: {}
        }
        const answer = checkVersion(request.headers["x-api-version"]) ?? Effect.flatMap(handled, inEnvelope)
        const response = yield* answer.pipe(
          Effect.flatMap(stored(database, info)),
          Effect.catchCauseIf(
            (cause) => !Cause.hasInterruptsOnly(cause),
            (cause) => refuse(request, cause)
          ),
          Effect.provideService(RequestInfo, info),
          Effect.annotateLogs("requestId", info.id)
        )
        const millis = (yield* Clock.currentTimeMillis) - started
        yield* HttpMetrics.answered({
          operation: info.operation ?? "-",
          method: request.method,
          status: response.status,
          millis,
          consumed: Number(info.headers["x-credits-consumed"] ?? 0)
        })
        // The path may hold an extended key, which must not be logged: the operation's name says enough.
        const line = `${request.method} ${info.operation ?? "-"} ${response.status} ${millis} ms`
        // Machines ask for health and metrics every few seconds; neither is an operation.
        const probe = info.operation === undefined && response.status < 400
        yield* (probe ? Effect.logDebug(line) : Effect.logInfo(line)).pipe(Effect.annotateLogs("requestId", info.id))
        return HttpServerResponse.setHeaders(response, {
          ...info.headers,
          "x-request-id": info.id,
          "x-response-time": String(millis)
        })
      }).pipe(RequestTrace.traced)
  ),
  { global: true }
)
