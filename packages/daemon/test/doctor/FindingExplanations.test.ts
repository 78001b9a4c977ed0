import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as ErrorExplanations from "@headwater/http/contract/ErrorExplanations"
import { assert, describe, it } from "@effect/vitest"
import { explanations } from "../../src/doctor/FindingExplanations.ts"

const sources = (folder: string) =>
  globSync(fileURLToPath(new URL(`${folder}/**/*.ts`, import.meta.url)))
    .filter((file) => !file.endsWith("FindingExplanations.ts"))
    .map((file) => readFileSync(file, "utf8"))

describe("FindingExplanations", () => {
  // That no code lacks an explanation is a matter of types.
  it("explains no code that nothing finds", () => {
    const found = [...sources("../../src/doctor"), ...sources("../../../indexer/src/families")].join("\n")
    const store = readFileSync(fileURLToPath(new URL("../../src/Store.ts", import.meta.url)), "utf8")
    const codes = Object.keys(explanations)
    assert.isAbove(codes.length, 40)
    assert.deepStrictEqual(
      codes.filter((code) => !found.includes(`"${code}"`) && !store.includes(`"${code}"`)),
      []
    )
    assert.deepStrictEqual(
      codes.filter((code) => code in ErrorExplanations.explanations),
      []
    )
  })

  it("says of each what it means, its causes and what to do, in sentences", () => {
    for (const [code, { causes, meaning, remedies }] of Object.entries(explanations)) {
      assert.isNotEmpty(causes, code)
      assert.isNotEmpty(remedies, code)
      for (const text of [meaning, ...causes, ...remedies]) assert.match(text, /^[A-Z`].*[.]$/, code)
    }
  })
})
