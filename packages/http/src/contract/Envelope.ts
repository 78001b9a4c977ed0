/**
 * The envelope of every answer (interface section 2.1).
 *
 * Handlers deal in plain data and domain errors. The contract's schemas add the envelope when they encode, from the
 * {@link RequestInfo} of the present request; the client made from the contract removes the envelope again.
 */
import { apiVersion } from "@headwater/core/events/Callback"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

export { apiVersion }

/** Longest `context` that is taken and echoed. */
export const maxContextLength = 512

/** One request while it is being answered. */
export interface RequestInfo {
  /** 24 lower-case hexadecimal characters. */
  readonly id: string
  /** The caller's `context`: of the body, else of the query. */
  readonly context: Effect.Effect<string | undefined>
  /** Name of the operation; undefined before the request is routed, and where no operation was called. */
  operation: string | undefined
  /** Results in the answer, which credits are charged for; 0 until there is an answer. */
  results: number
  /** Headers of the answer, beside the headers that every answer has. */
  readonly headers: Record<string, string>
}

/** A reference, since the schemas of middleware errors are encoded where a service of one request cannot be required. */
export const RequestInfo = Context.Reference<RequestInfo>("@headwater/http/contract/Envelope/RequestInfo", {
  defaultValue: () => ({ id: "none", context: Effect.undefined, operation: undefined, results: 0, headers: {} })
})

/** Gives the answer to the present request a header. */
const answerHeader = (name: string, value: string) =>
  Effect.map(RequestInfo, ({ headers }) => {
    headers[name] = value
  })

const fields = {
  apiVersion: Schema.String.annotate({
    description: "Version of the interface",
    examples: [apiVersion]
  }),
  requestId: Schema.String.annotate({
    description: "Unique id of the request, also in the header x-request-id",
    examples: ["6f1b0a4c9d3e57812fa06b3c"]
  }),
  context: Schema.optionalKey(
    Schema.String.annotate({
      description: "The caller's `context`, as given in the body or the query",
      examples: ["invoice-4711"]
    })
  )
}

/** The envelope's own fields for a request. */
const headOf = (request: RequestInfo) =>
  Effect.mapEager(request.context, (context) => ({
    apiVersion,
    requestId: request.id,
    ...(context === undefined ? {} : { context })
  }))

/** The present request, known without a step: what encodes an answer then takes none, where the answer needs no waiting. */
const present = (): RequestInfo => Context.get(Fiber.getCurrent()?.context ?? Context.empty(), RequestInfo)

/** One for `data.item`; for a list the number of items, at least one. */
const resultsOf = (data: unknown) => {
  const { items } = data as { readonly items?: ReadonlyArray<unknown> }
  return items === undefined ? 1 : Math.max(1, items.length)
}

/** By name, as {@link FailureEnvelope}: written out for every operation, the type of the contract would be too long. */
export interface SuccessEnvelope<S extends Schema.Top>
  extends Schema.Struct<typeof fields & { readonly data: Schema.toEncoded<S> }> {}

/** Envelope around a payload; the decoded side is the payload itself. */
export const success = <S extends Schema.Top>(data: S) =>
  (Schema.Struct({ ...fields, data: Schema.toEncoded(data) }) as SuccessEnvelope<S>).pipe(
    Schema.decodeTo(data, {
      decode: SchemaGetter.transform((envelope) => (envelope as { readonly data: S["Encoded"] }).data),
      encode: SchemaGetter.transformEffect((data) => {
        const request = present()
        request.results = resultsOf(data)
        return Effect.mapEager(headOf(request), (head) => ({ ...head, data }) as never)
      })
    })
  )

/** Envelope around one item. */
export const item = <S extends Schema.Top>(schema: S) => success(Schema.Struct({ item: schema }))

export const ErrorDetail = Schema.Struct({
  attribute: Schema.String.annotate({ description: "The field that is wrong", examples: ["callbackUrl"] }),
  message: Schema.String.annotate({
    description: "The rule that the field breaks",
    examples: ["must begin with https://"]
  })
}).annotate({ identifier: "ErrorDetail" })

export const ErrorBody = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(ErrorDetail))
})

/** The body of an error answer. */
export const errorBody = (error: typeof ErrorBody.Type) =>
  Effect.flatMap(RequestInfo, (request) => Effect.map(headOf(request), (head) => ({ ...head, error })))

/** The answer of an error. */
export interface FailureEnvelope<Code extends string>
  extends Schema.Struct<
    typeof fields & {
      readonly error: Schema.Struct<{
        readonly code: Schema.Literal<Code>
        readonly message: Schema.String
        readonly details: Schema.optionalKey<Schema.$Array<typeof ErrorDetail>>
      }>
    }
  > {}

/** Publishes a domain error under a status. Its tag is the code of the interface. */
export const failure = <
  E extends Schema.Top & { readonly Encoded: { readonly _tag: string; readonly message: string } }
>(
  error: E,
  options: {
    readonly code: E["Encoded"]["_tag"]
    readonly status: number
    readonly description: string
    /** Headers of the answer. */
    readonly headers?: Readonly<Record<string, string>>
  }
) =>
  (
    Schema.Struct({
      ...fields,
      error: Schema.Struct({
        code: Schema.Literal(options.code),
        message: Schema.String.annotate({ examples: [options.description] }),
        details: Schema.optionalKey(Schema.Array(ErrorDetail))
      })
    }).annotate({
      identifier: `error.${options.code}.${options.status}`,
      description: options.description
    }) as FailureEnvelope<E["Encoded"]["_tag"]>
  ).pipe(
    Schema.decodeTo(error, {
      decode: SchemaGetter.transform(
        ({ error: { code: _tag, ...rest } }) => ({ _tag, ...rest }) as unknown as E["Encoded"]
      ),
      encode: SchemaGetter.transformEffect((encoded) => {
        const { _tag, details, message, retryAfter } = encoded as {
          readonly _tag: string
          readonly message: string
          readonly details?: ReadonlyArray<typeof ErrorDetail.Type>
          readonly retryAfter?: number
        }
        const body = errorBody({ code: _tag, message, ...(details === undefined ? {} : { details }) })
        const headers = {
          ...options.headers,
          ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) })
        }
        return Effect.andThen(
          Effect.forEach(Object.entries(headers), ([name, value]) => answerHeader(name, value), { discard: true }),
          body
        )
      })
    }),
    Schema.annotate({ httpApiStatus: options.status })
  )
