/** Turns refusals of the contract's schemas into the errors of the interface. */

import { Buffer, isUtf8 } from "node:buffer"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as Layer from "effect/Layer"
import * as SchemaIssue from "effect/SchemaIssue"
import {
  InvalidData,
  InvalidPagination,
  InvalidRequestBodyStructure,
  LimitGreaterThanAllowed
} from "../contract/Errors.ts"
import { LargestBody } from "../contract/MessageSize.ts"
import { Validation } from "../contract/Validation.ts"
import * as AbsentFields from "./AbsentFields.ts"
import * as Nesting from "./Nesting.ts"
import * as NulCharacter from "./NulCharacter.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

interface Detail {
  readonly attribute: string
  readonly message: string
}

/** Every broken rule with the field, without the value. */
export const detailsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Detail> =>
  format(issue).issues.map(({ message, path }) => ({
    attribute: (path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)).join("."),
    message: message === "Missing key" ? "is required" : message
  }))

const summary = (details: ReadonlyArray<Detail>) =>
  details.map(({ attribute, message }) => (attribute === "" ? message : `${attribute}: ${message}`)).join("; ")

/** The refusal of everything that breaks a rule, all at once. */
export const invalidData = (details: ReadonlyArray<Detail>) => new InvalidData({ message: summary(details), details })

const paging = new Set(["limit", "offset", "startingAfter", "sortingOrder"])

/** A parameter of a query is a text, unless it is given several times. */
const repeated = (detail: Detail): Detail =>
  detail.message === "Expected string" ? { ...detail, message: "must be given once" } : detail

const ofQuery = (found: ReadonlyArray<Detail>) => {
  const details = found.map(repeated)
  const message = summary(details)
  const bad = details.filter(({ attribute }) => paging.has(attribute))
  if (bad.length === 0) return new InvalidData({ message, details })
  return bad.every(({ attribute, message }) => attribute === "limit" && /^must be at most \d+$/.test(message))
    ? new LimitGreaterThanAllowed({ message, details })
    : new InvalidPagination({ message, details })
}

/** Fields of the item are reported by their own names, unless the item itself is missing. */
const ofBody = (details: ReadonlyArray<Detail>) => {
  const structural = details.some(({ attribute }) => ["", "data", "data.item"].includes(attribute))
  const parts = details.filter(({ attribute }) => attribute !== "")
  const named = details.map(({ attribute, message }) => ({
    attribute: attribute.replace(/^data\.item\./, ""),
    message
  }))
  return structural
    ? new InvalidRequestBodyStructure({
        message: "The body must be JSON of the form {context?, data: {item: {…}}}",
        ...(parts.length === 0 ? {} : { details: parts })
      })
    : invalidData(named)
}

const hasNul = (attribute: string) => invalidData([{ attribute, message: NulCharacter.rule }])

/**
 * JSON is UTF-8 (RFC 8259): other bytes would be decoded into text that the caller did not send. No text has a NUL character,
 * and no value lies too deep.
 */
const checkText = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { params } = yield* HttpRouter.RouteContext
  const parameter = NulCharacter.parameterOf(request.url, params)
  if (parameter !== undefined) return yield* hasNul(parameter)
  const type = request.headers["content-type"] ?? "application/json"
  if (request.method !== "POST" || !type.toLowerCase().startsWith("application/json")) return
  const bytes = Buffer.from(yield* Effect.orDie(request.arrayBuffer))
  if (!isUtf8(bytes)) return yield* new InvalidRequestBodyStructure({ message: "The body must be UTF-8" })
  if (Nesting.isTooDeep(bytes)) return yield* new InvalidRequestBodyStructure({ message: `The body ${Nesting.rule}` })
  const text = bytes.toString()
  if (!NulCharacter.isIn(text)) return
  const member = NulCharacter.memberOf(text)
  return yield* member === undefined
    ? new InvalidRequestBodyStructure({ message: `The body ${NulCharacter.rule} (\\u0000)` })
    : hasNul(member)
})

/** Reads bodies up to the size that an operation takes, if that is not the size for all. */
const withBodyOf = <A, E, R>(largest: number | undefined, handled: Effect.Effect<A, E, R>) =>
  largest === undefined
    ? handled
    : Effect.updateService(handled, HttpIncomingMessage.MaxBodySize, (size) =>
        size === undefined || size > BigInt(largest) ? size : ByteSize.bytes(largest)
      )

type Refused = InvalidData | InvalidPagination | LimitGreaterThanAllowed | InvalidRequestBodyStructure

const refuse = <E>(error: E): Effect.Effect<never, E | Refused> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  switch (error.kind) {
    case "Query":
      return Effect.fail(ofQuery(detailsOf(error.cause.issue)))
    case "Payload":
      return Effect.fail(ofBody(detailsOf(error.cause.issue)))
    case "Params":
    case "Headers":
      return Effect.fail(invalidData(detailsOf(error.cause.issue)))
    default:
      // An answer that does not fit the contract is the server's own fault.
      return Effect.die(error)
  }
}

export const layer = Layer.succeed(
  Validation,
  Validation.of((handled, { endpoint }) =>
    Effect.catch(
      withBodyOf(
        Context.get(endpoint.annotations, LargestBody),
        Effect.andThen(checkText, AbsentFields.provide(handled))
      ),
      refuse
    )
  )
)
