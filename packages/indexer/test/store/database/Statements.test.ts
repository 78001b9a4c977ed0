import { assert, describe, it } from "@effect/vitest"
import { inChunks } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"

const values = Array.from({ length: 1_201 }, (_, i) => i)

describe("Statements", () => {
  it.effect("run for some of the values at a time, and answer in the order of the values", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const found = yield* inChunks(values, (chunk) =>
        Effect.sync(() => {
          sizes.push(chunk.length)
          return chunk.map((value) => value * 2)
        })
      )
      assert.deepStrictEqual(
        found,
        values.map((value) => value * 2)
      )
      assert.deepStrictEqual(sizes, [500, 500, 201])
      assert.deepStrictEqual(yield* inChunks([], () => Effect.die("no statement for no value")), [])
    })
  )
})
