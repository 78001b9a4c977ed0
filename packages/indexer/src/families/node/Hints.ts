/**
 * Hints that there is something new to look at: those that come while nobody waits are one, and the first that comes after a
 * pause ends a wait at once.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as SteadyTime from "../../SteadyTime.ts"

export interface Hints {
  readonly offer: () => void
  /** Waits until a hint has come since the last such wait. */
  readonly wait: Effect.Effect<void>
}

/** The least time between two waits that hints end, in milliseconds: who floods us with hints is looked at so often. */
const spacingMillis = 20

export const make: Effect.Effect<Hints> = Effect.gen(function* () {
  const hints = yield* Queue.sliding<void>(1)
  let endedAt = 0
  return {
    offer: () => void Queue.offerUnsafe(hints, undefined),
    wait: Effect.gen(function* () {
      yield* Queue.take(hints)
      const early = endedAt + spacingMillis - (yield* SteadyTime.millis)
      // Hints that come meanwhile are the same one; where the wait is given up meanwhile, none is lost.
      if (early > 0) {
        yield* Effect.onInterrupt(Effect.sleep(early), () => Effect.sync(() => Queue.offerUnsafe(hints, undefined)))
        yield* Queue.clear(hints)
      }
      endedAt = yield* SteadyTime.millis
    })
  }
})
