/** Spaces requests evenly, so that no minute has more of them than a plan allows. */
import * as SteadyTime from "@headwater/indexer/SteadyTime"
import * as Effect from "effect/Effect"

export interface RequestPace {
  /** Ends when the next request may be made, and counts that request. */
  readonly turn: Effect.Effect<void>
  /** Allows no request for so many milliseconds from now. */
  readonly pause: (millis: number) => Effect.Effect<void>
}

export const make = (requestsPerMinute: number): RequestPace => {
  const interval = 60_000 / requestsPerMinute
  /** When the next request may be made. */
  let free = 0
  return {
    turn: Effect.gen(function* () {
      const now = yield* SteadyTime.millis
      const turn = Math.max(free, now)
      // Taken before the wait: who asks meanwhile gets the turn after.
      free = turn + interval
      if (turn > now) yield* Effect.sleep(turn - now)
    }),
    pause: (millis) =>
      Effect.map(SteadyTime.millis, (now) => {
        free = Math.max(free, now + millis)
      })
  }
}
