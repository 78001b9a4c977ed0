/** The fields of a body by its JSON schema, as the pages of the reference list them. */

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxLength?: number
}

export interface Field {
  /** From the body's item on: `fee.priority`, `recipients[].amount`. */
  readonly path: string
  /** `string, up to 200 characters`, `slow, standard or fast`. */
  readonly type: string
  readonly required: boolean
  readonly description: string
}

type Definitions = Readonly<Record<string, unknown>>

const resolve = (definitions: Definitions, schema: JsonSchema): JsonSchema => {
  if (schema.$ref === undefined) return schema
  const { description } = schema
  const found = definitions[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] as JsonSchema
  return description === undefined ? found : { ...found, description }
}

/** The forms that a value may have: `null` is absence, and no form. */
const formsOf = (definitions: Definitions, schema: JsonSchema): ReadonlyArray<JsonSchema> => {
  const { anyOf, ...rest } = resolve(definitions, schema)
  return (anyOf?.flatMap((form) => formsOf(definitions, form)) ?? [rest]).filter(({ type }) => type !== "null")
}

/** A bound that says something: those of the largest safe integer stand at every integer. */
const bound = (value: number | undefined): number | undefined =>
  value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value

const range = (least: number | undefined, most: number | undefined): string => {
  const [from, to] = [bound(least), bound(most)]
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}`
  if (to !== undefined) return ` up to ${to}`
  return from === undefined || from === 0 ? "" : ` from ${from} on`
}

const oneOf = (values: ReadonlyArray<string>): string =>
  values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`

/** In parentheses, where what follows would seem to be about the last part alone. */
const within = (types: string): string => (/ or |, /.test(types) ? `(${types})` : types)

const typeOf = (definitions: Definitions, schema: JsonSchema): string => {
  const { const: only, enum: values, items, maxItems, maximum, maxLength, minimum, minItems, type } = schema
  const listed = values ?? (only === undefined ? undefined : [only])
  if (listed !== undefined) return oneOf(listed.map((value) => `\`${value}\``))
  if (type === "array") {
    const inner = items === undefined ? "" : ` of ${within(typesOf(definitions, items))}`
    const count = range(minItems, maxItems)
    return `list${inner}${count === "" ? "" : `,${count} items`}`
  }
  if (type === "string") return maxLength === undefined ? "string" : `string, up to ${maxLength} characters`
  return `${type ?? "object"}${range(minimum, maximum)}`
}

const typesOf = (definitions: Definitions, schema: JsonSchema): string =>
  oneOf([...new Set(formsOf(definitions, schema).map((form) => typeOf(definitions, form)))])

const below = (definitions: Definitions, schema: JsonSchema, path: string): ReadonlyArray<Field> => {
  const forms = formsOf(definitions, schema)
  const names = new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})))
  const own = [...names].flatMap((name) => {
    const having = forms.filter(({ properties }) => properties?.[name] !== undefined)
    const property: JsonSchema =
      having.length === 1
        ? having[0]!.properties![name]!
        : { anyOf: having.map(({ properties }) => properties![name]!) }
    const at = path === "" ? name : `${path}.${name}`
    const described = having.map(({ properties }) => resolve(definitions, properties![name]!).description)
    const field: Field = {
      path: at,
      type: typesOf(definitions, property),
      required: forms.every(({ required }) => required?.includes(name) === true),
      description: described.find((text) => text !== undefined) ?? ""
    }
    return [field, ...below(definitions, property, at)]
  })
  const ofItems = forms.flatMap(({ items }) => (items === undefined ? [] : below(definitions, items, `${path}[]`)))
  return [...own, ...ofItems]
}

/**
 * The fields of `data.item`, or of each of `data.items`, of a request or an answer, those of an object after the object.
 *
 * @example
 * ```ts
 * import { fieldsOf } from "@headwater/http/contract/SchemaFields"
 *
 * const item = { properties: { address: { type: "string" } }, required: ["address"] }
 * const body = { properties: { data: { properties: { item } } } }
 * fieldsOf({}, body) // => [{ path: "address", type: "string", required: true, description: "" }]
 * ```
 */
export const fieldsOf = (definitions: Definitions, body: unknown): ReadonlyArray<Field> => {
  const [data] = formsOf(definitions, body as JsonSchema).flatMap(({ properties }) =>
    properties?.data === undefined ? [] : [resolve(definitions, properties.data)]
  )
  const { item, items } = data?.properties ?? {}
  if (item !== undefined) return below(definitions, item, "")
  return items === undefined
    ? []
    : formsOf(definitions, items).flatMap((list) => below(definitions, list.items ?? {}, ""))
}
