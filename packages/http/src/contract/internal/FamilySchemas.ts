/** Examples on the schemas of answers that one family of chains alone gives: they are of a chain of that family. */
import type { FamilyName } from "@headwater/core/families/families"
import * as Example from "./Example.ts"
import * as FamilyExample from "./FamilyExample.ts"

type Schemas = Readonly<Record<string, unknown>>

const place = "#/components/schemas/"

/** Names of the components that a part of the document refers to, by itself or through others. */
const collect = (schemas: Schemas, part: unknown, found: Set<string>): void => {
  if (typeof part !== "object" || part === null) return
  const { $ref } = part as Example.JsonSchema
  const name = $ref?.slice(place.length)
  if (name !== undefined && !found.has(name)) {
    found.add(name)
    collect(schemas, schemas[name], found)
  }
  for (const inner of Object.values(part)) collect(schemas, inner, found)
}

const replaced = (part: unknown, values: Example.Values): unknown => {
  if (Array.isArray(part)) return part.map((each) => replaced(each, values))
  if (typeof part !== "object" || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === "examples" && Array.isArray(value)
        ? value.map((example) => Example.inPlaceOf(example, values))
        : replaced(value, values)
    ])
  )
}

/** A part of the document that is for chains of these families: with examples of the family where there is one. */
export const ofFamilies = <A>(part: A, [family, ...others]: ReadonlyArray<FamilyName>): A =>
  family === undefined || others.length > 0 ? part : (replaced(part, FamilyExample.values(family)) as A)

/** The schemas, with examples of the family in those that operations of one family alone refer to. */
export const withExamples = <A extends Schemas>(
  schemas: A,
  operations: ReadonlyArray<{ readonly families: ReadonlyArray<FamilyName>; readonly operation: unknown }>
): A => {
  const families = new Map<string, Set<FamilyName>>()
  for (const { families: own, operation } of operations) {
    const found = new Set<string>()
    collect(schemas, operation, found)
    for (const name of found) {
      const all = families.get(name) ?? new Set()
      for (const family of own) all.add(family)
      families.set(name, all)
    }
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, ofFamilies(schema, [...(families.get(name) ?? [])])])
  ) as A
}
