/** Failures of work that is done again and again: the first is a warning, and those that follow on it are no more. */
import * as Effect from "effect/Effect"

/** Gives work that never fails: where it does, `otherwise`, and a line in the log, once for as long as the failures last. */
export const make = (failure: string) => {
  let failing = false
  return <A, E, R>(work: Effect.Effect<A, E, R>, otherwise: A): Effect.Effect<A, never, R> =>
    work.pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          failing = false
        })
      ),
      Effect.catchCause((cause) => {
        const logged = failing ? Effect.logDebug : Effect.logWarning
        failing = true
        return Effect.as(logged(failure, cause), otherwise)
      })
    )
}
