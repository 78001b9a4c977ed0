/** What a node knows of a Tron transaction by its id alone. */
import { assert, describe, it } from "@effect/vitest"
import * as TronBroadcasting from "@headwater/indexer/families/tron/Broadcasting"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const nodeAt = (height: () => number) => {
  const node = { name: "node", find: () => Effect.undefined }
  const headers = {
    newest: () =>
      Effect.sync(() => ({
        blockID: `${height().toString(16).padStart(16, "0")}${"ab".repeat(24)}`,
        block_header: { raw_data: { number: height(), parentHash: "00".repeat(32), timestamp: 1 } }
      }))
  }
  return TronBroadcasting.make({ ...node, each: [node] } as never, headers as never)
}

describe("a Tron transaction that is looked for by its id", () => {
  it.effect("is not said to be in no block by a node that has not come to the block", () =>
    Effect.gen(function* () {
      let newest = 99
      const { find } = nodeAt(() => newest)
      const found = () => Effect.result(find(new Uint8Array(32).fill(1), 100))
      assert.include(String(yield* found()), "has not come to block 100")
      newest = 100
      assert.deepStrictEqual(yield* found(), Result.succeed({ state: "absent" as const }))
    })
  )
})
