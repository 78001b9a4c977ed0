import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as RequestPace from "../../../src/market/internal/RequestPace.ts"

/** When each of the turns came, all of them asked for at once. */
const turns = Effect.fnUntraced(function* (pace: RequestPace.RequestPace, count: number) {
  const fiber = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: count }, () => Effect.andThen(pace.turn, Clock.currentTimeMillis)),
      { concurrency: count }
    )
  )
  yield* TestClock.adjust("1 minute")
  return yield* Fiber.join(fiber)
})

describe("RequestPace", () => {
  it.effect("spaces turns evenly, those asked for at once too", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* turns(RequestPace.make(600), 4), [0, 100, 200, 300])
    })
  )

  it.effect("keeps no turns from a time when nobody asked", () =>
    Effect.gen(function* () {
      const pace = RequestPace.make(600)
      yield* turns(pace, 1)
      const [first = 0, second] = yield* turns(pace, 2)
      assert.strictEqual(second, first + 100)
    })
  )

  it.effect("allows none during a pause", () =>
    Effect.gen(function* () {
      const pace = RequestPace.make(600)
      yield* pace.pause(5000)
      assert.deepStrictEqual(yield* turns(pace, 2), [5000, 5100])
    })
  )

  it.effect("waits for no longer where a clock that was ahead is put right", () =>
    Effect.gen(function* () {
      const pace = RequestPace.make(600)
      const hour = 3_600_000
      yield* TestClock.setTime(hour)
      yield* pace.pause(5000)
      yield* TestClock.setTime(0)
      assert.deepStrictEqual(yield* turns(pace, 2), [5000, 5100])
    })
  )
})
