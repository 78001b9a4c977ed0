import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import { BlockMissing } from "@headwater/indexer/families/node/NodeError"
import * as SharedRequests from "@headwater/indexer/families/node/SharedRequests"
import type { Source } from "@headwater/indexer/families/Source"
import * as BlocksInOrder from "@headwater/indexer/sync/internal/BlocksInOrder"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

const blockOf = (height: number) => ({ height }) as Block

interface Fetched {
  readonly height: number
  readonly mostBlocks: number
  /** Blocks that are fetched at the time. */
  readonly atOnce: number
}

/** The heights of all blocks from 0 to 199, whose groups have as many blocks as `blocksOfRequest` says. */
const fetched = Effect.fnUntraced(function* (
  blocksOfRequest: Source["blocksOfRequest"],
  broken?: (height: number) => boolean
) {
  const asked: Array<Fetched> = []
  let underWay = 0
  const blockAt = Effect.fnUntraced(function* (height: number) {
    asked.push({ height, mostBlocks: yield* SharedRequests.MostBlocks, atOnce: ++underWay })
    yield* Effect.sleep(`${height % 7} millis`)
    underWay--
    return broken?.(height) ? yield* new BlockMissing({ node: "fake", block: String(height) }) : blockOf(height)
  })
  const source = (blocksOfRequest === undefined ? {} : { blocksOfRequest }) as Source
  const given: Array<number> = []
  const ended = yield* BlocksInOrder.fetch(source, blockAt, { first: 0, last: 199, concurrency: 3 }).pipe(
    Stream.runForEach(({ height }) => Effect.sync(() => given.push(height))),
    Effect.result
  )
  return { asked, given, ended, atOnce: Math.max(...asked.map(({ atOnce }) => atOnce)) }
})

describe("BlocksInOrder", () => {
  it.live("fetches blocks several at a time, and gives them in order", () =>
    Effect.gen(function* () {
      const { asked, atOnce, given } = yield* fetched(undefined)
      assert.deepStrictEqual(given, range(0, 199))
      assert.strictEqual(asked.length, 200)
      assert.strictEqual(atOnce, 3)
    })
  )

  it.live("fetches small ones in groups, and the last ones one by one", () =>
    Effect.gen(function* () {
      const { asked, atOnce, given } = yield* fetched(() => 50)
      assert.deepStrictEqual(given, range(0, 199))
      assert.strictEqual(asked.length, 200)
      assert.isTrue(atOnce > 20 && atOnce <= 30)
      assert.deepStrictEqual(
        asked.filter(({ height }) => height >= 160).map(({ mostBlocks }) => mostBlocks),
        [10, 10, 6, 4, 3, 2, 1, 1, 1, 1, 1].flatMap((blocks) => Array<number>(blocks).fill(blocks))
      )
      assert.isTrue(asked.slice(-5).every(({ atOnce }) => atOnce <= 5))
    })
  )

  it.live("goes by the size that blocks have come to be of", () =>
    Effect.gen(function* () {
      let small = 0
      const { asked, given } = yield* fetched(() => (small++ < 5 ? 8 : 0))
      assert.deepStrictEqual(given, range(0, 199))
      assert.isTrue(asked.slice(80).every(({ atOnce }) => atOnce <= 3))
    })
  )

  it.live("fails at a block that cannot be had, after all before it", () =>
    Effect.gen(function* () {
      const { ended, given } = yield* fetched(
        () => 8,
        (height) => height === 101 || height === 103
      )
      assert.deepStrictEqual(given, range(0, 100))
      assert.strictEqual(Result.isFailure(ended) && ended.failure.block, "101")
    })
  )
})
