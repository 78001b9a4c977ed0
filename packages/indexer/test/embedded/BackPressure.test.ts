import { assert, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as BackPressure from "@headwater/indexer/embedded/BackPressure"
import * as BlocksInOrder from "@headwater/indexer/sync/internal/BlocksInOrder"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { FakeChain } from "../sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const said: Array<unknown> = []
const logger = Logger.layer([Logger.make(({ message }) => said.push(...[message].flat()))])

it.effect("blocks wait until the last open consumer is near, and for none that is closed", () =>
  Effect.gen(function* () {
    const node = new FakeChain(chain)
    while (node.tip.height < 40) node.mine([])
    const backPressure = BackPressure.make(10)
    said.length = 0
    const { blockAt } = backPressure.hold(node.source)
    const isHeld = Effect.fnUntraced(function* (height: number) {
      const fiber = yield* Effect.forkChild(blockAt(height))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const exit = fiber.pollUnsafe()
      return { is: exit === undefined, fiber }
    })
    assert.isFalse((yield* isHeld(40)).is, "nobody is there")
    const fast = yield* backPressure.attach("fast", 20)
    const slowScope = yield* Scope.make()
    const slow = yield* Scope.provide(backPressure.attach("slow", 5), slowScope)
    assert.isFalse((yield* isHeld(15)).is)
    const sixteen = yield* isHeld(16)
    assert.isTrue(sixteen.is)
    yield* fast.acknowledged(30)
    assert.isTrue((yield* isHeld(16)).is, "the slow one is where it was")
    yield* isHeld(17)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([...new Set(said)], ["Block 16 waits for the consumer slow, which has acknowledged 5"])
    yield* slow.acknowledged(6)
    assert.strictEqual((yield* Fiber.join(sixteen.fiber)).height, 16)
    const forty = yield* isHeld(40)
    assert.isTrue(forty.is)
    yield* Scope.close(slowScope, Exit.void)
    assert.strictEqual((yield* Fiber.join(forty.fiber)).height, 40)
    // A consumer that knows no block yet begins with the next one.
    yield* fast.acknowledged(100)
    yield* backPressure.attach("new", undefined)
    assert.isFalse((yield* isHeld(20)).is)
    assert.isTrue((yield* isHeld(30)).is)
  }).pipe(Effect.scoped, Effect.provide(logger))
)

it.effect("blocks that are fetched together never wait for each other to be acknowledged", () =>
  Effect.gen(function* () {
    const node = new FakeChain(chain)
    while (node.tip.height < 60) node.mine([])
    const backPressure = BackPressure.make(3)
    const source = backPressure.hold({ ...node.source, blocksOfRequest: () => 8 })
    const consumer = yield* backPressure.attach("one by one", undefined)
    const heights: Array<number> = []
    yield* BlocksInOrder.fetch(source, source.blockAt, { first: 1, last: 60, concurrency: 2 }).pipe(
      Stream.runForEach(({ height }) => {
        heights.push(height)
        return consumer.acknowledged(height)
      }),
      Effect.timeoutOption("1 hour"),
      Effect.forkChild,
      Effect.tap(() => TestClock.adjust("1 hour")),
      Effect.flatMap(Fiber.join)
    )
    assert.strictEqual(heights.at(-1), 60)
  }).pipe(Effect.scoped, Effect.provide(logger))
)
