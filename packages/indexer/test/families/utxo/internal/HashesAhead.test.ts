import { assert, describe, it } from "@effect/vitest"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as HashesAhead from "@headwater/indexer/families/utxo/internal/HashesAhead"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const head = 1_000

/** The hash that the chain has at a height; another one after a reorganisation. */
const hexAt = (height: number, chain = 0) => (chain * 65_536 + height).toString(16).padStart(64, "0")

/** A node that notes for how many hashes each request asks, and the hashes that it is asked for. */
const make = (node = "node", answer: Effect.Effect<void, NodeUnreachable> = Effect.void) => {
  const requests: Array<number> = []
  let chain = 0
  const rpc = {
    node,
    batch: (calls: ReadonlyArray<{ readonly params: ReadonlyArray<unknown> }>) =>
      Effect.suspend(() => {
        requests.push(calls.length)
        return Effect.as(
          answer,
          calls.map(({ params }) => hexAt(params[0] as number, chain))
        )
      }),
    call: (_: string, [height]: readonly [number]) =>
      Effect.sync(() => {
        requests.push(1)
        return hexAt(height, chain)
      })
  } as unknown as JsonRpc
  return {
    rpc,
    requests,
    reorganise: () => {
      chain++
    }
  }
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

describe("HashesAhead", () => {
  it.effect("asks for hashes of past blocks together, which are read several at a time", () =>
    Effect.gen(function* () {
      const { requests, rpc } = make()
      const hexOf = HashesAhead.make()
      const heights = range(0, 65)
      const found = yield* Effect.forEach(heights, (height) => hexOf(rpc, height, head), { concurrency: 8 })
      assert.deepStrictEqual(
        found,
        heights.map((height) => hexAt(height))
      )
      assert.deepStrictEqual(requests, [1, 16, 16, 16, 16])
    })
  )

  it.effect("asks for blocks near the head, and for those that are not read in a row, one by one", () =>
    Effect.gen(function* () {
      const { requests, rpc } = make()
      const hexOf = HashesAhead.make()
      for (const height of [...range(head - 110, 20), 7, 9, 500, 3]) {
        assert.strictEqual(yield* hexOf(rpc, height, head), hexAt(height))
      }
      assert.deepStrictEqual(
        requests,
        range(0, 24).map(() => 1)
      )
    })
  )

  it.effect("asks again for a block that is read again, and for those of another node", () =>
    Effect.gen(function* () {
      const { reorganise, rpc } = make()
      const other = make("other")
      const hexOf = HashesAhead.make()
      for (const height of range(0, 4)) yield* hexOf(rpc, height, head)
      reorganise()
      assert.strictEqual(yield* hexOf(rpc, 4, head), hexAt(4))
      assert.strictEqual(yield* hexOf(rpc, 4, head), hexAt(4, 1))
      other.reorganise()
      other.reorganise()
      assert.strictEqual(yield* hexOf(other.rpc, 5, head), hexAt(5, 2))
    })
  )

  it.effect("asks one by one where the node does not answer for several, or nobody waits for that any more", () =>
    Effect.gen(function* () {
      const refused = new NodeUnreachable({ node: "node", method: "getblockhash", message: "no" })
      const refusing = make("node", Effect.fail(refused))
      const hexOf = HashesAhead.make()
      for (const height of range(0, 40)) assert.strictEqual(yield* hexOf(refusing.rpc, height, head), hexAt(height))
      assert.lengthOf(
        refusing.requests.filter((count) => count > 1),
        1
      )

      const silent = make("node", Deferred.await(Deferred.makeUnsafe()))
      const later = HashesAhead.make()
      yield* later(silent.rpc, 0, head)
      const first = yield* Effect.forkChild(later(silent.rpc, 1, head))
      const second = yield* Effect.forkChild(later(silent.rpc, 2, head))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first)
      assert.strictEqual(yield* Fiber.join(second), hexAt(2))
    })
  )
})
