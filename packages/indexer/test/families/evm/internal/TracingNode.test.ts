import { assert, describe, it } from "@effect/vitest"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { JsonText } from "@headwater/indexer/families/node/JsonText"
import { answerTooLarge, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import { NotTraced } from "@headwater/indexer/families/evm/internal/Trace"
import * as TracingNode from "@headwater/indexer/families/evm/internal/TracingNode"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"

const tracer = "debug_traceBlockByHash"
const block = { number: "0x1", hash: "0x01" }

/** A node that takes so long for each answer, and is given a minute. */
const nodeOf = () => {
  const world = { takes: 0, tooLarge: false, isDoubted: false }
  const timedOut = new NodeUnreachable({ node: "slow", method: tracer, message: "no answer within 60000 ms" })
  const results: JsonRpc["results"] = (calls) =>
    Effect.suspend(() =>
      Effect.andThen(
        Effect.sleep(Math.min(world.takes, 60_000)),
        world.takes >= 60_000
          ? Effect.fail(timedOut)
          : Effect.succeed(
              calls.map(() =>
                world.tooLarge ? Result.fail(answerTooLarge("slow", tracer, "too large")) : Result.succeed([])
              )
            )
      )
    )
  const rpc = { node: "slow", results } as unknown as JsonRpc
  return { world, node: TracingNode.make(rpc, 60_000, () => world.isDoubted) }
}

/** How long an effect takes by the test's clock, at most two minutes. */
const millisOf = Effect.fnUntraced(function* <A, E>(self: Effect.Effect<A, E>) {
  const began = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.andThen(Effect.result(self), Clock.currentTimeMillis))
  yield* TestClock.adjust("2 minutes")
  return (yield* Fiber.join(fiber)) - began
})

const rested = TestClock.adjust("11 minutes")

describe("a node that is asked for traces", () => {
  it.effect("and hangs holds up one block by its time limit, and later ones by a second, until it answers again", () =>
    Effect.gen(function* () {
      const { node, world } = nodeOf()
      world.takes = 1e9
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 60_000)
      for (let i = 0; i < 3; i++) {
        yield* rested
        assert.isUndefined(node.rests(yield* Clock.currentTimeMillis))
        assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 1_000)
        assert.isDefined(node.rests((yield* Clock.currentTimeMillis) - 110_000))
      }
      // In the background it is asked without haste, and its answer ends the doubt.
      world.takes = 30_000
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, false)), 30_000)
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 30_000)
    })
  )

  it.effect("and whose traces are too large together, and too slow one by one, does so too", () =>
    Effect.gen(function* () {
      const { node, world } = nodeOf()
      world.tooLarge = true
      const slow = Effect.as(Effect.sleep("90 seconds"), "traces")
      const both = Effect.andThen(node.ask(tracer, block, true), node.inTime<string>(slow, true))
      assert.strictEqual(yield* millisOf(both), 60_000)
      yield* rested
      assert.strictEqual(yield* millisOf(both), 1_000)
      assert.strictEqual(yield* millisOf(node.inTime<string>(slow, false)), 90_000)
      assert.strictEqual(yield* millisOf(both), 60_000)
      const refused = node.inTime(Effect.fail(new NotTraced({ reason: "pruned" })), true)
      assert.strictEqual(yield* millisOf(refused), 0)
    })
  )

  it.effect("and was waited for in vain with another question holds up no block by more than a second", () =>
    Effect.gen(function* () {
      const { node, world } = nodeOf()
      world.takes = 1e9
      world.isDoubted = true
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 1_000)
      yield* rested
      world.takes = 500
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 500)
      world.isDoubted = false
      world.takes = 30_000
      assert.strictEqual(yield* millisOf(node.ask(tracer, block, true)), 30_000)
    })
  )

  it.effect(
    "is asked together with the block where it gave the last traces at once, and few, and for no one in doubt",
    () =>
      Effect.gen(function* () {
        const { node, world } = nodeOf()
        const isTogether = Effect.map(Clock.currentTimeMillis, (now) => node.callWithBlock("0x01", now) !== undefined)
        assert.isFalse(yield* isTogether, "before the first traces")
        for (const [takes, expected] of [
          [400, true],
          [600, false],
          [0, true]
        ] as const) {
          world.takes = takes
          yield* millisOf(node.ask(tracer, block, true))
          assert.strictEqual(yield* isTogether, expected, `after ${takes} ms`)
        }
        world.isDoubted = true
        assert.isFalse(yield* isTogether, "in doubt")
        world.isDoubted = false
        // What is larger than a kernel reads comes as values.
        for (const many of [new JsonText(Buffer.alloc(4 * 2 ** 20 + 1)), Array.from({ length: 101 }, () => ({}))]) {
          node.notedWithBlock([], yield* Clock.currentTimeMillis)
          assert.isTrue(yield* isTogether)
          node.notedWithBlock(many, yield* Clock.currentTimeMillis)
          assert.isFalse(yield* isTogether, "after many traces")
        }
        node.notedWithBlock([], yield* Clock.currentTimeMillis)
        assert.isTrue(yield* isTogether)
        for (const minutes of [1, 2, 4]) {
          node.notedWithBlock(undefined, yield* Clock.currentTimeMillis)
          yield* TestClock.adjust(`${minutes * 60 - 1} seconds`)
          assert.isFalse(yield* isTogether, `after a failure, ${minutes} minutes`)
          yield* TestClock.adjust("1 second")
          assert.isTrue(yield* isTogether)
        }
      })
  )
})
