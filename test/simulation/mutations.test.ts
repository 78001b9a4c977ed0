import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { mutations } from "./mutations.ts"

it("each mistake has one place in the program", () => {
  const places = mutations.map(({ file, from, name }) => ({
    name,
    places: readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8").split(from).length - 1
  }))
  assert.deepStrictEqual(
    places.filter(({ places }) => places !== 1),
    []
  )
})
