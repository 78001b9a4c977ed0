import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as SecondLook from "@headwater/indexer/families/SecondLook"
import type { Source } from "@headwater/indexer/families/Source"
import * as Effect from "effect/Effect"
import * as EvmBlocks from "./evm/EvmBlocks.ts"

const hash = (byte: number) => new Uint8Array(32).fill(byte)

const block = (height: number, lacking: number, of = height): Block => ({
  ...{ height, hash: hash(of), parent: hash(of - 1), time: height, transactions: [], transfers: [], spends: [] },
  ...(lacking === 0
    ? {}
    : {
        notUnderstood: Array.from({ length: lacking }, () => ({
          ...{ transactionId: undefined, reason: "type 0x5 is not known", transfers: 0, raw: "" }
        }))
      })
})

const unreachable = new NodeUnreachable({ node: "fake", method: "getblock", message: "reset" })

/** A source that gives these, one a look, and how often it was looked at. */
const looks = (all: ReadonlyArray<Block | NodeUnreachable>) => {
  let at = 0
  const inner: Source = {
    ...({} as Source),
    blockAt: () =>
      Effect.suspend(() => {
        const look = all[Math.min(at++, all.length - 1)]!
        return look instanceof NodeUnreachable ? Effect.fail(look) : Effect.succeed(look)
      })
  }
  const source = SecondLook.of(inner)
  return { blockAt: EvmBlocks.withoutWaiting(source.blockAt(5)), count: () => at }
}

describe("SecondLook", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Block | NodeUnreachable>, Block, number]> = [
    ["a block that is understood is read once", [block(5, 0)], block(5, 0), 1],
    ["an answer that was broken on its way", [block(5, 1), block(5, 0)], block(5, 0), 2],
    ["the look that has understood more, the first", [block(5, 1), block(5, 2)], block(5, 1), 2],
    ["the look that has understood more, the second", [block(5, 2), block(5, 1)], block(5, 1), 2],
    ["another block, after a reorganisation", [block(5, 1), block(5, 2, 9)], block(5, 2, 9), 2],
    ["a node that is gone", [block(5, 1), unreachable], block(5, 1), 2]
  ]
  for (const [name, all, expected, count] of cases) {
    it.live(name, () =>
      Effect.gen(function* () {
        const source = looks(all)
        assert.deepStrictEqual(yield* source.blockAt, expected)
        assert.strictEqual(source.count(), count)
      })
    )
  }

  it.live("a kind that is in every block costs one look, until a block is understood again", () =>
    Effect.gen(function* () {
      const source = looks([...Array<Block>(26).fill(block(5, 1)), block(5, 0), block(5, 1)])
      for (let i = 0; i < 8; i++) yield* source.blockAt
      assert.strictEqual(source.count(), 16)
      for (let i = 0; i < 10; i++) yield* source.blockAt
      assert.strictEqual(source.count(), 26)
      yield* source.blockAt
      assert.strictEqual(source.count(), 27)
      yield* source.blockAt
      assert.strictEqual(source.count(), 29)
    })
  )
})
