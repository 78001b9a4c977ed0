import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import * as NextLook from "../../src/sync/internal/NextLook.ts"

const blockOf = (number: number) => ({ hash: Uint8Array.of(number) })

const waits = Effect.fnUntraced(function* (pollInterval: Duration.Input) {
  const announcements = yield* Queue.unbounded<void>()
  const nextLook = NextLook.make(Duration.fromInputUnsafe(pollInterval), Queue.take(announcements))
  /** Waits with this newest block; ends after this time exactly. */
  const lasts = Effect.fnUntraced(function* (newest: number | undefined, duration: Duration.Input) {
    const wait = yield* Effect.forkChild(nextLook(newest === undefined ? undefined : blockOf(newest)))
    yield* TestClock.adjust(Duration.subtract(Duration.fromInputUnsafe(duration), Duration.millis(1)))
    assert.isUndefined(wait.pollUnsafe(), `longer than ${Duration.format(Duration.fromInputUnsafe(duration))}`)
    yield* TestClock.adjust("1 millis")
    assert.isDefined(wait.pollUnsafe())
  })
  const isEndedByAnnouncement = Effect.fnUntraced(function* (newest: number | undefined) {
    const wait = yield* Effect.forkChild(nextLook(newest === undefined ? undefined : blockOf(newest)))
    yield* TestClock.adjust("10 millis")
    Queue.offerUnsafe(announcements, undefined)
    yield* Fiber.join(wait)
  })
  return { isEndedByAnnouncement, lasts }
})

describe("the next look for a new block", () => {
  it.effect("comes after four intervals while blocks come announced, after one from the first block without", () =>
    Effect.gen(function* () {
      const { isEndedByAnnouncement, lasts } = yield* waits("500 millis")
      yield* lasts(undefined, "500 millis")
      yield* lasts(1, "500 millis")
      yield* isEndedByAnnouncement(1)
      yield* lasts(2, "2 seconds")
      // No block came, and none was announced.
      yield* lasts(2, "2 seconds")
      yield* isEndedByAnnouncement(2)
      // The node did not have the block yet.
      yield* lasts(2, "500 millis")
      yield* lasts(2, "2 seconds")
      yield* isEndedByAnnouncement(2)
      yield* lasts(3, "2 seconds")
      yield* lasts(4, "500 millis")
      yield* lasts(4, "500 millis")
      yield* isEndedByAnnouncement(4)
      yield* lasts(5, "2 seconds")
    })
  )

  it.effect("comes after 10 seconds at most, unless the interval is longer", () =>
    Effect.gen(function* () {
      const short = yield* waits("6 seconds")
      yield* short.isEndedByAnnouncement(1)
      yield* short.lasts(2, "10 seconds")
      const long = yield* waits("1 minute")
      yield* long.isEndedByAnnouncement(1)
      yield* long.lasts(2, "1 minute")
    })
  )
})
