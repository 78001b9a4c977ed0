/** The contract as an OpenAPI 3.1 document, with prices, headers and examples added, which schemas do not hold. */
import { type Operation, prices } from "@headwater/core/Credits"
import { blockchains } from "@headwater/core/chains/blockchains"
import { type FamilyName, familyNames } from "@headwater/core/families/families"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { Api } from "./Api.ts"
import { apiVersion } from "./Envelope.ts"
import * as DescribedReferences from "./internal/DescribedReferences.ts"
import * as Example from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import * as FamilySchemas from "./internal/FamilySchemas.ts"
import { Price } from "./Price.ts"
import { Families } from "./RequestedChain.ts"
import { webhookSchemas, webhooks } from "./Webhooks.ts"

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
  "x-credits-available": header("Credits that are left; only where credits are counted", "integer"),
  "ratelimit-policy": header("The account's rate: `q` credits in `w` seconds at once", "string"),
  ratelimit: header("What is left of the rate: `r` credits, and all of it again in `t` seconds", "string"),
  "x-ratelimit-limit": header("Credits that an account may spend at once", "integer"),
  "x-ratelimit-remaining": header("Credits that are left of the rate", "integer"),
  "x-ratelimit-reset": header("Seconds until all of the rate is there again", "integer")
}

const versionParameter = {
  name: "x-api-version",
  in: "header" as const,
  required: false,
  description: "Version of the interface that the caller wants",
  schema: { type: "string", enum: [apiVersion] },
  example: apiVersion
}

const priceText = (operation: Operation, families: ReadonlyArray<FamilyName>): string => {
  const { default: byDefault, ...figures } = prices[operation] as Record<string, number>
  const own = blockchains.flatMap(({ family, name }) =>
    families.includes(family) && (figures[name] ?? byDefault) !== byDefault ? [`${name} ${figures[name]}`] : []
  )
  const exceptions = own.length === 0 ? "" : `; ${own.join(", ")}`
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

/** What the document of an endpoint needs beside what Effect writes. */
interface Facts {
  /** Of the chains that it is for. */
  readonly families: ReadonlyArray<FamilyName>
  readonly price: Operation | undefined
  /** For its examples. */
  readonly values: Example.Values
  /** Its parameters as they are once they are read: a number is a number, though its text comes in a URL. */
  readonly parameters: Readonly<Record<string, JsonSchema>>
}

/** The field and the rule in the examples of errors that always name one; the others are shown without. */
const faults: Readonly<Record<string, { readonly attribute: string; readonly message: string }>> = {
  "invalid_data.400": { attribute: "callbackUrl", message: "must begin with https://" },
  "invalid_pagination.400": { attribute: "startingAfter", message: "must be a nextStartingAfter of this list" },
  "limit_greater_than_allowed.400": { attribute: "limit", message: "must be at most 50" },
  "invalid_blockchain.400": {
    attribute: "blockchain",
    message: "The operation is for UTXO blockchains, which ethereum is not"
  },
  "invalid_network.400": { attribute: "network", message: "must be one of mainnet, sepolia, devnet" },
  "invalid_request_body_structure.422": { attribute: "data", message: "is required" }
}

/** What an error is shown as, beside its code. */
const shownAs = (error: string): Example.Values => {
  const fault = faults[error]
  if (fault === undefined) return { details: undefined }
  const { attribute, message } = fault
  return {
    details: [fault],
    ...(error === "invalid_data.400" || attribute === "limit" || attribute === "startingAfter"
      ? { "error.message": `${attribute}: ${message}` }
      : {})
  }
}

const errorAnswer = (
  spec: Spec,
  operation: SpecOperation,
  price: Operation | undefined,
  status: number,
  answer: Response
): Array<[number, Response]> => {
  const schema = answer.content!["application/json"]!.schema as JsonSchema
  const nameOf = ({ $ref }: JsonSchema) => $ref!.slice($ref!.indexOf("error.") + "error.".length)
  const references = (schema.anyOf ?? [schema]).filter((reference) => {
    const need = needs[nameOf(reference)]
    return need === undefined || need(operation, price)
  })
  if (references.length === 0) return []
  const described = references.map((reference) => {
    const name = nameOf(reference)
    const text = spec.components.schemas[`error.${name}`]!.description as string
    return { name, code: name.slice(0, name.indexOf(".")), text, reference }
  })
  const examples = Object.fromEntries(
    described.map(({ code, name, reference }) => [
      code,
      { value: Example.of(spec.components.schemas, reference, shownAs(name)) }
    ])
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

const successAnswer = (spec: Spec, answer: Response, values: Example.Values): Response => {
  const schema = answer.content!["application/json"]!.schema
  const example = Example.of(spec.components.schemas, schema as JsonSchema, values)
  return {
    ...answer,
    headers: everyAnswer,
    content: { ...answer.content, "application/json": { schema, example } as never }
  }
}

const requestBody = (spec: Spec, body: NonNullable<SpecOperation["requestBody"]>, values: Example.Values) => {
  const schema = open(body.content["application/json"]!.schema) as JsonSchema
  const optional = schema.anyOf?.some(({ type }) => type === "null") === true
  const content = { schema, example: Example.of(spec.components.schemas, schema, values) }
  return { required: !optional, content: { "application/json": content } } as unknown as SpecOperation["requestBody"]
}

const parameter = (spec: Spec, written: SpecOperation["parameters"][number], { parameters, values }: Facts) => {
  const { description, examples, ...schema } = { ...(written.schema as JsonSchema), ...parameters[written.name] }
  const example = Example.of(
    spec.components.schemas,
    { ...schema, ...(examples && { examples }) },
    values,
    written.name
  )
  return { ...written, description, schema, ...(example === undefined ? {} : { example }) }
}

const complete = (spec: Spec, operation: SpecOperation, facts: Facts): SpecOperation => {
  const { families, price, values } = facts
  return {
    ...operation,
    description: [price === undefined ? "Costs no credits." : priceText(price, families), operation.description ?? []]
      .flat()
      .join(" "),
    parameters: [...operation.parameters.map((written) => parameter(spec, written, facts)), versionParameter] as never,
    responses: Object.fromEntries(
      Object.entries(operation.responses).flatMap(([status, answer]) =>
        Number(status) < 400
          ? [[Number(status), successAnswer(spec, answer, values)] as const]
          : errorAnswer(spec, operation, price, Number(status), answer)
      )
    ),
    ...(operation.requestBody === undefined ? {} : { requestBody: requestBody(spec, operation.requestBody, values)! })
  }
}

const parametersOf = (schemas: ReadonlyArray<Schema.Top | undefined>): Readonly<Record<string, JsonSchema>> =>
  Object.assign(
    {},
    ...schemas.map((schema) => {
      if (schema === undefined) return {}
      return Schema.toJsonSchemaDocument(Schema.toType(schema)).schema.properties
    })
  )

const factsByOperation = (): ReadonlyMap<string, Facts> => {
  const found = new Map<string, Facts>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const families = Context.get(endpoint.annotations, Families)
      const [family = "evm"] = families ?? []
      found.set(`${group.identifier}.${endpoint.identifier}`, {
        families: families ?? familyNames,
        price: Context.get(endpoint.annotations, Price),
        values: { ...FamilyExample.values(family), ...Context.get(endpoint.annotations, Example.ExampleValues) },
        parameters: parametersOf([endpoint.params, endpoint.query])
      })
    }
  })
  return found
}

export type Document = Spec & { readonly webhooks: typeof webhooks }

const make = (): Document => {
  const spec = DescribedReferences.share(OpenApi.fromApi(Api))
  const byOperation = factsByOperation()
  const paths = Object.entries(spec.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations as Record<string, SpecOperation>).map(([method, operation]) => {
        const facts = byOperation.get(operation.operationId)!
        return [method, complete(spec, FamilySchemas.ofFamilies(operation, facts.families), facts)]
      })
    )
  ])
  const schemas = FamilySchemas.withExamples(
    spec.components.schemas,
    Object.values(spec.paths).flatMap((operations) =>
      Object.values(operations as Record<string, SpecOperation>).map((operation) => ({
        families: byOperation.get(operation.operationId)!.families,
        operation
      }))
    )
  )
  const components = { ...spec.components, schemas: { ...schemas, ...webhookSchemas } }
  return { ...spec, servers: [{ url: "/" }], paths: Object.fromEntries(paths), components, webhooks }
}

/**
 * The document with every answer in its place; `PublishedDocument` is what the daemon answers at `/openapi.json`.
 *
 * @example
 * ```ts
 * import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
 *
 * openApiDocument.openapi // => "3.1.0"
 * ```
 */
export const openApiDocument: Document = make()
