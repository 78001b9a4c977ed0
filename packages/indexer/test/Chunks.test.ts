import { assert, describe, it } from "@effect/vitest"
import { chunksOf } from "@headwater/indexer/Chunks"

describe("chunksOf", () => {
  it("cuts a list, whose last piece may be shorter", () => {
    assert.deepStrictEqual(chunksOf([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
    assert.deepStrictEqual(chunksOf([], 2), [])
  })
})
