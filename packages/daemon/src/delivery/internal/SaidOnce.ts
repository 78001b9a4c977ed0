/** Failures of work that is done again and again: each reason is a warning once, until the work has succeeded. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

/** What is said of one piece of work. */
export const make = (failure: string) => {
  const said = new Set<string>()
  return {
    /** The next failure is the first one again. */
    worked: () => said.clear(),
    /** A line in the log: a warning, where this reason was not said since the work last succeeded. */
    failed: (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
      const reason = String(Cause.squash(cause))
      const logged = said.has(reason) ? Effect.logDebug : Effect.logWarning
      said.add(reason)
      return logged(failure, cause)
    }
  }
}

/** Work that never fails, to be repeated: where it does, its answer is `otherwise`. */
export const orElse = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  failure: string,
  otherwise: A
): Effect.Effect<A, never, R> => {
  const { failed, worked } = make(failure)
  return work.pipe(
    Effect.tap(() => Effect.sync(worked)),
    Effect.catchCause((cause) => Effect.as(failed(cause), otherwise))
  )
}
