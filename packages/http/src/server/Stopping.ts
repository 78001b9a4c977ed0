/** That the server stops: whoever waits for what may come answers with what there is, and readers that stay connected are let go. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Ends when the server begins to stop; in a process without a server, never. */
export const Stopping = Context.Reference<Effect.Effect<void>>("@headwater/http/server/Stopping", {
  defaultValue: () => Effect.never
})

/** Reads what there is within so many milliseconds, and what there is now once the server stops. */
export const waiting = <A, E, R>(
  stopping: Effect.Effect<void>,
  read: (waitMillis: number) => Effect.Effect<A, E, R>,
  waitMillis: number
): Effect.Effect<A, E, R> =>
  waitMillis === 0
    ? read(0)
    : Effect.raceFirst(
        read(waitMillis),
        Effect.andThen(
          stopping,
          Effect.suspend(() => read(0))
        )
      )
