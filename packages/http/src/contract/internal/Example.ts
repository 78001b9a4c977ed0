/** An example value for a JSON schema, put together from the examples that stand on its parts and from values by name. */
import * as Context from "effect/Context"

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly examples?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly description?: string
}

/**
 * Values by the names of fields and parameters, or by two names such as `fee.unit` for a field inside another; undefined
 * leaves an optional field out. Also by the text of a schema's own example, in whose place they stand.
 */
export type Values = Readonly<Record<string, unknown>>

/** Values for the examples of an endpoint, as an annotation on the endpoint. */
export const ExampleValues = Context.Reference<Values>("@headwater/http/contract/internal/Example/ExampleValues", {
  defaultValue: () => ({})
})

/** Fields whose values say the same wherever they stand. A schema's own example comes first. */
const common: Values = {
  ...{ blockchain: "ethereum", network: "mainnet", limit: 50, offset: 0, total: 1, wait: 30 },
  ...{ hasMore: true, startingAfter: undefined, nextStartingAfter: "MjEwMDAwMDA", sortingOrder: "DESCENDING" },
  ...{ receiveCallbackOn: 3, confirmationsCount: 3, allowDuplicates: false, deactivationReasons: undefined },
  ...{ index: 0, isVerified: true, syncStatus: "synced", blocksLeft: undefined }
}

/** What stands where nobody has written an example. The document has none, which a test sees to. */
export const placeholders: Readonly<Record<string, unknown>> = {
  string: "text",
  integer: 999_999,
  number: 999_999,
  boolean: true,
  null: null
}

/** A schema's own example, or what stands in its place. */
export const inPlaceOf = (example: unknown, values: Values): unknown =>
  typeof example === "string" && Object.hasOwn(values, example) ? values[example] : example

/** `values` come before everything that the schema says. */
export const of = (
  definitions: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  values: Values,
  name = "",
  parent = ""
): unknown => {
  const own = [`${parent}.${name}`, name].find((key) => Object.hasOwn(values, key))
  if (own !== undefined) return values[own]
  if (schema.examples !== undefined) return inPlaceOf(schema.examples[0], values)
  if (Object.hasOwn(common, name)) return common[name]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.$ref !== undefined) {
    return of(
      definitions,
      definitions[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] as JsonSchema,
      values,
      "",
      name
    )
  }
  if (schema.anyOf !== undefined) return of(definitions, schema.anyOf[0]!, values, "", name)
  if (schema.type === "array")
    return schema.items === undefined ? [] : [of(definitions, schema.items, values, "", name)]
  // A schema without a type is that of an object without fields.
  if (schema.type === "object" || schema.type === undefined) {
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).flatMap(([field, property]) => {
        const value = of(definitions, property, values, field, name || parent)
        return value === undefined ? [] : [[field, value]]
      })
    )
  }
  return placeholders[schema.type]
}
