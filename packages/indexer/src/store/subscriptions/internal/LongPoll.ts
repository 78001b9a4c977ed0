/** Waiting for something to be in the store. */
import * as Effect from "effect/Effect"
import * as SteadyTime from "../../../SteadyTime.ts"

/** How long a reader waits until it looks for what no wakeup has told. */
const lookMillis = 500

/**
 * Looks, and looks again at each wakeup and now and then, until `isEnough` says so or the time is over:
 * what the last look has found.
 */
export const until = <A, E, R>(
  look: Effect.Effect<A, E, R>,
  isEnough: (found: A) => boolean,
  waitMillis: number,
  nextWakeup: Effect.Effect<Effect.Effect<void>>
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const end = (yield* SteadyTime.millis) + waitMillis
    while (true) {
      const woken = yield* nextWakeup
      const found = yield* look
      const left = end - (yield* SteadyTime.millis)
      if (isEnough(found) || left <= 0) return found
      yield* Effect.timeoutOption(woken, Math.min(left, lookMillis))
    }
  })
