/** An example value for a JSON schema, put together from the examples that stand on its parts. */

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly examples?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly description?: string
}

const bare: Readonly<Record<string, unknown>> = { string: "text", integer: 1, number: 1, boolean: true, null: null }

export const of = (definitions: Readonly<Record<string, unknown>>, schema: JsonSchema): unknown => {
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.$ref !== undefined) {
    return of(definitions, definitions[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] as JsonSchema)
  }
  if (schema.anyOf !== undefined) return of(definitions, schema.anyOf[0]!)
  if (schema.type === "array") return schema.items === undefined ? [] : [of(definitions, schema.items)]
  if (schema.type === "object") {
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, property]) => [name, of(definitions, property)])
    )
  }
  return bare[schema.type ?? "string"]
}
