/**
 * One component a schema. Effect makes one for each description that a field gives the schema, `Amount_1` to `Amount_9`, and
 * the name without a number says what the first such field is. OpenAPI 3.1 has descriptions beside references.
 */
import type { JsonSchema } from "./Example.ts"

type Schemas = Readonly<Record<string, JsonSchema>>

const place = "#/components/schemas/"

const structureOf = ({ description, ...structure }: JsonSchema) => JSON.stringify(structure)

/** Names of the shared components by those of their variants, the shared one's among them; of a component without variants none. */
const sharedNames = (schemas: Schemas): ReadonlyMap<string, string> => {
  const groups = Map.groupBy(Object.keys(schemas), (name) => {
    const shared = name.replace(/_\d+$/, "")
    const base = schemas[shared]
    return base !== undefined && structureOf(base) === structureOf(schemas[name]!) ? shared : name
  })
  return new Map(
    [...groups].flatMap(([shared, names]) => (names.length === 1 ? [] : names.map((name) => [name, shared] as const)))
  )
}

/** The document with one component for variants that differ in their descriptions, which stand beside references then. */
export const share = <Document extends { readonly components: { readonly schemas: object } }>(
  document: Document
): Document => {
  const schemas = document.components.schemas as Schemas
  const names = sharedNames(schemas)
  const redirected = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(redirected)
    if (typeof part !== "object" || part === null) return part
    const name = (part as JsonSchema).$ref?.slice(place.length) ?? ""
    const shared = names.get(name)
    if (shared === undefined)
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, redirected(value)]))
    const { description } = schemas[name]!
    return { ...(description !== undefined && { description }), ...part, $ref: `${place}${shared}` }
  }
  const shared = redirected(document) as Document
  const components = Object.entries(shared.components.schemas as Schemas).flatMap(([name, schema]) => {
    const own = names.get(name)
    if (own === undefined) return [[name, schema] as const]
    const { description, ...structure } = schema
    return own === name ? [[name, structure] as const] : []
  })
  return { ...shared, components: { ...shared.components, schemas: Object.fromEntries(components) } }
}
