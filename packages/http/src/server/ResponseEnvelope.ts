/** Gives every answer its envelope and headers, also answers that come from no operation. */
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpMethod from "effect/http/HttpMethod"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import { apiVersion, type ErrorBody, errorBody, maxContextLength, RequestInfo } from "../contract/Envelope.ts"
import type { Code } from "../contract/Errors.ts"
import { allowedMethods, docsPath } from "./AllowedMethods.ts"
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
  if (!HttpMethod.hasBody(request.method)) return Effect.succeed(ofQuery)
  return request.json.pipe(
    Effect.map((body) => (Predicate.hasProperty(body, "context") && isContext(body.context) ? body.context : ofQuery)),
    Effect.orElseSucceed(() => ofQuery)
  )
}

const refusal = (status: number, body: typeof ErrorBody.Type, headers: Record<string, string> = {}) =>
  Effect.map(errorBody(body), (enveloped) => HttpServerResponse.jsonUnsafe(enveloped, { status, headers }))

const error = (status: number, code: Code, message: string, headers?: Record<string, string>) =>
  refusal(status, { code, message }, headers)

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
          ? error(404, "uri_not_found", `There is no such path: ${docsPath} describes those that there are`)
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

const unsupported = error(415, "unsupported_media_type", "The body must be application/json")

const checkVersion = (version: string | undefined) => {
  if (version === undefined || version === apiVersion) return undefined
  const fault = { attribute: "x-api-version", message: `"${version}" is not a version; supported: ${apiVersion}` }
  return refusal(400, { code: "invalid_data", message: `${fault.attribute}: ${fault.message}`, details: [fault] })
}

/** The codings of bodies by their registered names; some clients send `utf-8` there, and a body as it is. */
const compression = /\b(?:br|compress|deflate|gzip|zstd)\b/i

/** Compressed bodies are not taken: their bytes would be read as a text that is no JSON. */
const checkEncoding = (request: HttpServerRequest.HttpServerRequest) => {
  const encoding = request.headers["content-encoding"]
  if (request.method !== "POST" || encoding === undefined || !compression.test(encoding)) return undefined
  return error(415, "unsupported_media_type", "The body must not be compressed: send it without content-encoding", {
    "accept-encoding": "identity"
  })
}

/** 24 hexadecimal characters: milliseconds, then chance. Ids that follow one another lie beside one another in an index. */
const newRequestId = (now: number): string => {
  const chance = crypto.randomUUID()
  return now.toString(16).padStart(12, "0") + chance.slice(0, 8) + chance.slice(9, 13)
}

/** Counts an answered request, logs it, and gives the answer its headers. */
const answered = (
  request: HttpServerRequest.HttpServerRequest,
  info: RequestInfo,
  millis: number,
  response: HttpServerResponse.HttpServerResponse
) => {
  const { headers, id, operation } = info
  const counted = HttpMetrics.answered({
    operation: operation ?? "-",
    method: request.method,
    status: response.status,
    millis,
    consumed: Number(headers["x-credits-consumed"] ?? 0)
  })
  // The path may hold an extended key, which must not be logged: the operation's name says enough.
  const line = `${request.method} ${operation ?? "-"} ${response.status} ${millis} ms`
  // Machines ask for health, metrics and readiness, which may be a 503, every few seconds; none is an operation.
  const probe = operation === undefined && (response.status < 400 || response.status === 503)
  headers["x-request-id"] = id
  headers["x-response-time"] = String(millis)
  return counted.pipe(
    Effect.andThen(probe ? Effect.logDebug(line) : Effect.logInfo(line)),
    Effect.as(HttpServerResponse.setHeaders(response, headers))
  )
}

/**
 * Runs around every request, so that as few steps as possible are taken here: what is the same for all requests is made once.
 */
export const layer = HttpRouter.middleware(
  Effect.map(Database, ({ flush }) => (handled) => {
    const enveloped = Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
      const clock = Context.get(context, Clock.Clock)
      const request = Context.get(context, HttpServerRequest.HttpServerRequest)
      const started = clock.currentTimeMillisUnsafe()
      const info: RequestInfo = {
        id: newRequestId(started),
        context: contextOf(request),
        operation: undefined,
        results: 0,
        headers: {}
      }
      const end = (response: HttpServerResponse.HttpServerResponse) =>
        answered(request, info, clock.currentTimeMillisUnsafe() - started, response)
      const refused = <E>(cause: Cause.Cause<E>) =>
        Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.flatMap(refuse(request, cause), end)
      const own = checkVersion(request.headers["x-api-version"]) ?? checkEncoding(request)
      return (own ?? handled).pipe(
        Effect.matchCauseEffect({
          onFailure: refused,
          onSuccess: (response) => {
            // An answer of the framework itself.
            if (own === undefined && response.status === 415) return Effect.flatMap(unsupported, end)
            // A change that is answered is on the disk, as far as the store's settings ask for that.
            return info.operation !== undefined && request.method !== "GET" && response.status < 400
              ? Effect.matchCauseEffect(flush, { onFailure: refused, onSuccess: () => end(response) })
              : end(response)
          }
        }),
        Effect.updateContext((context: Context.Context<never>) =>
          context.pipe(
            Context.add(RequestInfo, info),
            Context.add(References.CurrentLogAnnotations, {
              ...Context.get(context, References.CurrentLogAnnotations),
              requestId: info.id
            })
          )
        )
      )
    })
    return RequestTrace.traced(enveloped)
  }),
  { global: true }
)
