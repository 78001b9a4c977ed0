import { assert, describe, it } from "@effect/vitest"
import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
import { publishedDocument } from "@headwater/http/contract/PublishedDocument"
import { Validator } from "@seriousme/openapi-schema-validator"

const published = JSON.parse(JSON.stringify(publishedDocument))

/** With what references name in their places, but for schemas. */
const expanded = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(expanded)
  if (typeof node !== "object" || node === null) return node
  const [, part, name] =
    /^#\/components\/(responses|headers)\/(.+)$/.exec(String((node as { $ref?: string }).$ref)) ?? []
  if (part !== undefined) return expanded(published.components[part][name!])
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, expanded(child)]))
}

describe("PublishedDocument", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    const { errors, valid } = await new Validator().validate(structuredClone(published))
    assert.isTrue(valid, JSON.stringify(errors))
  })

  it("says of each operation what the whole document says", () => {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument))
    for (const [path, operations] of Object.entries(published.paths)) {
      assert.deepStrictEqual(expanded(operations), paths[path], path)
    }
    assert.sameMembers(Object.keys(published.paths), Object.keys(paths))
  })

  it("has names of which generators make names of types: each begins with a letter", () => {
    const names = Object.values<object>(published.components).flatMap((components) => Object.keys(components))
    assert.deepStrictEqual(
      names.filter((name) => !/^[A-Za-z]/.test(name)),
      []
    )
  })

  it("has errors and headers once", () => {
    assert.isBelow(JSON.stringify(published).length, JSON.stringify(openApiDocument).length / 3)
  })
})
