/** What the OpenAPI document says, as tests ask it: its operations, and whether an answer is one that it describes. */
import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

interface Operation {
  readonly operationId: string
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: object }>
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Record<string, { readonly schema: object; readonly example?: object }>
  }
  readonly responses: Record<
    string,
    { readonly content: Record<string, { readonly schema: object; readonly example?: object }> }
  >
}

interface Webhook {
  readonly requestBody: {
    readonly content: {
      readonly "application/json": {
        readonly schema: object
        readonly examples: Record<
          string,
          {
            readonly value: {
              readonly data: { readonly event: string; readonly item: { readonly blockchain: string } }
            }
          }
        >
      }
    }
  }
}

/** The document as it goes over the wire. */
export const document = JSON.parse(JSON.stringify(openApiDocument)) as {
  readonly paths: Record<string, Record<string, Omit<Operation, "method" | "path">>>
  readonly components: { readonly schemas: Record<string, object> }
  readonly webhooks: Record<string, { readonly post: Webhook }>
}

export const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
)

export const operationNamed = (operationId: string) =>
  operations.find((operation) => operation.operationId === operationId)!

/** The `data` of the answer that the document shows as an example. */
export const exampleOf = ({ responses }: Operation) => {
  const [, answer] = Object.entries(responses).find(([status]) => Number(status) < 400)!
  const { data } = answer.content["application/json"]!.example as {
    readonly data: { readonly item?: object; readonly items?: ReadonlyArray<object> }
  }
  return data
}

/** The `data.item` of the request that the document shows as an example. */
export const requestExampleOf = ({ requestBody }: Operation) => {
  const { data } = requestBody!.content["application/json"]!.example as {
    readonly data: { readonly item: Readonly<Record<string, unknown>> }
  }
  return data.item
}

/** Every error of an operation, as status and code. */
export const errorsOf = ({ responses }: Operation): ReadonlyArray<readonly [status: number, code: string]> =>
  Object.entries(responses).flatMap(([status, response]) => {
    if (Number(status) < 400) return []
    const schema = response.content["application/json"]!.schema as {
      readonly $ref?: string
      readonly anyOf?: ReadonlyArray<{ readonly $ref: string }>
    }
    return (schema.anyOf ?? [{ $ref: schema.$ref! }]).map(
      ({ $ref }) => [Number(status), /error\.(\w+)\.\d+$/.exec($ref)![1]!] as const
    )
  })

// A schema that many answers name is compiled once: not in the place of each of its names, nor once for each answer.
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false })
ajv.addSchema(document, "openapi")
for (const [name, schema] of Object.entries(document.components.schemas)) {
  ajv.addSchema(schema, `openapi#/components/schemas/${name}`)
}

const compiled = new Map<string, ValidateFunction>()

const check = (validate: ValidateFunction, body: unknown): string | undefined =>
  validate(body) ? undefined : ajv.errorsText(validate.errors)

/** What is wrong with a value by a schema of the document; undefined where nothing is. */
export const wrongWithExample = (schema: object, value: unknown): string | undefined => {
  // By its text, since many operations have the same answers.
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/')
  let validate = compiled.get(text)
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(text))
    compiled.set(text, validate)
  }
  return check(validate, value)
}

/** What is wrong with an answer of an operation; undefined where the document describes it. */
export const wrongWith = ({ operationId, responses }: Operation, status: number, body: unknown): string | undefined => {
  const answer = responses[status]
  return answer === undefined
    ? `${operationId} has no answer ${status}`
    : wrongWithExample(answer.content["application/json"]!.schema, body)
}

const isEnvelope = ajv.compile({
  type: "object",
  required: ["apiVersion", "requestId", "error"],
  additionalProperties: false,
  properties: {
    apiVersion: { const: "2024-12-12" },
    requestId: { type: "string", pattern: "^[0-9a-f]{24}$" },
    context: { type: "string", maxLength: 512 },
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" } }
    }
  }
})

/** What is wrong with the envelope of an error that belongs to no operation. */
export const wrongWithError = (code: string, body: unknown): string | undefined => {
  const wrong = check(isEnvelope, body)
  if (wrong !== undefined) return wrong
  const { error } = body as { readonly error: { readonly code: string } }
  return error.code === code ? undefined : `the code is ${error.code}, not ${code}`
}
