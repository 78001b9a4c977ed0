import { assert, describe, it } from "@effect/vitest"
import * as ErrorExplanations from "../../src/contract/ErrorExplanations.ts"
import { Failures, outsideOperations } from "../../src/contract/Errors.ts"

describe("ErrorExplanations", () => {
  it("explains each code of the interface, and no other, with the statuses of the contract", () => {
    const published = [
      ...Object.values(Failures).map(({ from }) => from.fields.error.fields.code.literal),
      ...outsideOperations.map(({ code }) => code)
    ]
    assert.sameMembers([...ErrorExplanations.codes], [...new Set(published)])
    assert.isAbove(ErrorExplanations.codes.length, 30)
    const statuses = Object.fromEntries(
      ErrorExplanations.codes.map((code) => [code, ErrorExplanations.statusesOf(code)] as const)
    )
    for (const [code, found] of Object.entries(statuses)) {
      assert.isNotEmpty(found, code)
      assert.isTrue(
        found.every((status) => status >= 400 && status < 600),
        code
      )
    }
    assert.deepStrictEqual(statuses.invalid_data, [400, 409])
    assert.deepStrictEqual(statuses.payload_too_large, [413, 431])
    assert.deepStrictEqual(statuses.node_unavailable, [503])
    assert.deepStrictEqual(statuses.method_not_allowed, [405])
  })

  it("says of each what it means, its causes and what to do, in sentences", () => {
    for (const [code, { causes, meaning, remedies }] of Object.entries(ErrorExplanations.explanations)) {
      assert.isNotEmpty(causes, code)
      assert.isNotEmpty(remedies, code)
      for (const text of [meaning, ...causes, ...remedies]) assert.match(text, /^[A-Z0-9`].*[.]$/, code)
    }
  })
})
