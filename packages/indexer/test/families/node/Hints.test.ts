import { assert, describe, it } from "@effect/vitest"
import * as Hints from "@headwater/indexer/families/node/Hints"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

describe("Hints", () => {
  it.effect("ends a wait at once after a pause, and with 20 ms between where they come close together", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      const hints = yield* Hints.make
      hints.offer()
      yield* hints.wait
      // Any number is one, and no earlier than the time between.
      for (let i = 0; i < 5; i++) hints.offer()
      const second = yield* Effect.forkChild(hints.wait, { startImmediately: true })
      yield* TestClock.adjust("19 millis")
      assert.isUndefined(second.pollUnsafe())
      hints.offer()
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(second)
      const none = yield* Effect.forkChild(hints.wait, { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(none.pollUnsafe())
      hints.offer()
      yield* Fiber.join(none)
    })
  )

  it.effect("loses no hint to a wait that is given up", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      const hints = yield* Hints.make
      hints.offer()
      yield* hints.wait
      hints.offer()
      const given = yield* Effect.forkChild(hints.wait, { startImmediately: true })
      yield* TestClock.adjust("5 millis")
      yield* Fiber.interrupt(given)
      yield* TestClock.adjust("1 second")
      yield* hints.wait
    })
  )
})
