/** A signal that wakes every fiber of this process that waits for the next signal. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

export interface Wakeup {
  /** Wakes those who wait. */
  readonly signal: Effect.Effect<void>
  /** An effect that waits for the next signal after this moment. */
  readonly next: Effect.Effect<Effect.Effect<void>>
}

export const make = (): Wakeup => {
  let waiting = Deferred.makeUnsafe<void>()
  return {
    signal: Effect.sync(() => {
      const before = waiting
      // Who is woken may wait for the next signal at once.
      waiting = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(before, Effect.void)
    }),
    next: Effect.sync(() => Deferred.await(waiting))
  }
}
