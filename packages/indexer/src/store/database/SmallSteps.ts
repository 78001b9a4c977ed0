/** Work that takes long, in steps that are short: others come to the store between. */
import * as Effect from "effect/Effect"

/** Callbacks, and rows of other tables, that one step changes: some milliseconds each thousand. */
export const callbacksAtOnce = 1_000
export const rowsAtOnce = 5_000

const pause = "1 millis"

/** Repeats a step, which says whether there is more to do. */
export const whileMore = <E, R>(step: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(step, (more) =>
    more
      ? Effect.andThen(
          Effect.sleep(pause),
          Effect.suspend(() => whileMore(step))
        )
      : Effect.void
  )
