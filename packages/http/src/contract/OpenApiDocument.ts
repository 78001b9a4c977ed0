/** The contract as an OpenAPI 3.1 document, with prices, headers and examples added, which schemas do not hold. */
import { type Operation, prices } from "@headwater/core/Credits"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { Api } from "./Api.ts"
import { apiVersion } from "./Envelope.ts"
import * as Example from "./internal/Example.ts"
import { Price } from "./Price.ts"

type Spec = OpenApi.OpenAPISpec
type SpecOperation = OpenApi.OpenAPISpecOperation
type Response = SpecOperation["responses"][number]
type JsonSchema = Example.JsonSchema

const header = (description: string, type: "string" | "integer") => ({
  description,
  required: false,
  schema: { type }
})

const everyAnswer = {
  "x-request-id": header("The request's id, as in the envelope", "string"),
  "x-response-time": header("Milliseconds that the answer took", "integer"),
  "x-credits-consumed": header("Credits that the request cost; only where credits are counted", "integer"),
  "x-credits-available": header("Credits that are left; only where credits are counted", "integer")
}

const versionParameter = {
  name: "x-api-version",
  in: "header" as const,
  required: false,
  description: "Version of the interface that the caller wants",
  schema: { type: "string", enum: [apiVersion] }
}

const priceText = (operation: Operation): string => {
  const { default: byDefault, ...chains } = prices[operation] as Record<string, number>
  const own = Object.entries(chains).filter(([, figure]) => figure !== byDefault)
  const exceptions = own.length === 0 ? "" : `; ${own.map(([chain, figure]) => `${chain} ${figure}`).join(", ")}`
  return `Costs ${byDefault} credits a result${exceptions}. What fails costs nothing.`
}

/** Unknown fields of a request are ignored, not refused: only the schemas of answers are closed. */
const open = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(open)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) =>
      key === "additionalProperties" && value === false ? [] : [[key, open(value)]]
    )
  )
}

const hasParameter = (name: string) => (operation: SpecOperation) =>
  operation.parameters.some((parameter) => parameter.name === name)

/** Conditions for the errors that middleware declares for all operations alike. */
const needs: Readonly<Record<string, (operation: SpecOperation, price: Operation | undefined) => boolean>> = {
  "invalid_request_body_structure.422": ({ requestBody }) => requestBody !== undefined,
  "invalid_pagination.400": hasParameter("limit"),
  "limit_greater_than_allowed.400": hasParameter("limit"),
  "invalid_blockchain.400": hasParameter("blockchain"),
  "uri_not_found.404": ({ parameters }) => parameters.some((parameter) => parameter.in === "path"),
  "insufficient_credits.402": (_, price) => price !== undefined
}

const errorAnswer = (
  spec: Spec,
  operation: SpecOperation,
  price: Operation | undefined,
  status: number,
  answer: Response
): Array<[number, Response]> => {
  const schema = answer.content!["application/json"]!.schema as JsonSchema
  const references = (schema.anyOf ?? [schema]).filter(({ $ref }) => {
    const need = needs[$ref!.slice($ref!.indexOf("error.") + "error.".length)]
    return need === undefined || need(operation, price)
  })
  if (references.length === 0) return []
  const described = references.map(({ $ref }) => {
    const name = $ref!.slice($ref!.lastIndexOf("/") + 1)
    const [, code] = name.split(".")
    return { code: code!, text: spec.components.schemas[name]!.description as string, $ref: $ref! }
  })
  const examples = Object.fromEntries(
    described.map(({ $ref, code }) => [code, { value: Example.of(spec.components.schemas, { $ref }) }])
  )
  const waits = status === 429 || status === 503 ? { "retry-after": header("Seconds to wait", "integer") } : {}
  const content = { schema: references.length === 1 ? references[0]! : { anyOf: references }, examples }
  return [
    [
      status,
      {
        description: described.map(({ code, text }) => `\`${code}\`: ${text}`).join("  \n"),
        headers: { ...everyAnswer, ...waits },
        content: { "application/json": content as never }
      }
    ]
  ]
}

const successAnswer = (spec: Spec, answer: Response): Response => {
  const schema = answer.content!["application/json"]!.schema
  const example = Example.of(spec.components.schemas, schema as JsonSchema)
  return {
    ...answer,
    headers: everyAnswer,
    content: { "application/json": { schema, example } as never }
  }
}

const requestBody = (spec: Spec, body: NonNullable<SpecOperation["requestBody"]>) => {
  const schema = open(body.content["application/json"]!.schema) as JsonSchema
  const optional = schema.anyOf?.some(({ type }) => type === "null") === true
  const content = { schema, example: Example.of(spec.components.schemas, schema) }
  return { required: !optional, content: { "application/json": content } } as unknown as SpecOperation["requestBody"]
}

const complete = (spec: Spec, operation: SpecOperation, price: Operation | undefined): SpecOperation => ({
  ...operation,
  description: price === undefined ? "Costs no credits." : priceText(price),
  parameters: [...operation.parameters, versionParameter],
  responses: Object.fromEntries(
    Object.entries(operation.responses).flatMap(([status, answer]) =>
      Number(status) < 400
        ? [[Number(status), successAnswer(spec, answer)] as const]
        : errorAnswer(spec, operation, price, Number(status), answer)
    )
  ),
  ...(operation.requestBody === undefined ? {} : { requestBody: requestBody(spec, operation.requestBody)! })
})

const pricesByOperation = (): ReadonlyMap<string, Operation | undefined> => {
  const found = new Map<string, Operation | undefined>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      found.set(`${group.identifier}.${endpoint.identifier}`, Context.get(endpoint.annotations, Price))
    }
  })
  return found
}

const make = (): Spec => {
  const spec = OpenApi.fromApi(Api)
  const byOperation = pricesByOperation()
  const paths = Object.entries(spec.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations as Record<string, SpecOperation>).map(([method, operation]) => [
        method,
        complete(spec, operation, byOperation.get(operation.operationId))
      ])
    )
  ])
  return { ...spec, servers: [{ url: "/" }], paths: Object.fromEntries(paths) }
}

/**
 * The document, which the daemon answers at `/openapi.json`.
 *
 * @example
 * ```ts
 * import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
 *
 * openApiDocument.openapi // => "3.1.0"
 * ```
 */
export const openApiDocument: OpenApi.OpenAPISpec = make()
