/**
 * What processes on one store tell one another at once. A signal is a hint and no more: rows say what is to be done, and
 * whoever waits for a signal also looks at the rows now and then. On SQLite, which one process has, signals stay in the
 * process; on PostgreSQL they reach every process that waits (`internal/PostgresSignals`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Wakeup from "../../Wakeup.ts"

/**
 * `callbacks`: some were made, or have become due. `undone`: blocks have left a chain. `placement`: a daemon has come or
 * gone, or a chain is to be followed by another one.
 */
export const all = ["callbacks", "undone", "placement"] as const

export type Signal = (typeof all)[number]

export interface Signals {
  /** Tells every process that waits: inside a transaction once that has committed, if it does, and one time alone. */
  readonly send: (signal: Signal) => Effect.Effect<void>
  /** An effect that waits for the next signal of this kind after this moment. */
  readonly next: (signal: Signal) => Effect.Effect<Effect.Effect<void>>
  /** How many signals of this kind have come so far. */
  readonly count: (signal: Signal) => number
}

/** Whether the processes on a PostgreSQL store tell one another; in simulations they have their own time. */
export const SignalsShared = Context.Reference<boolean>("@headwater/indexer/store/database/Signals/SignalsShared", {
  defaultValue: () => true
})

/** The signals that have reached this process. */
export const make = () => {
  const wakeups = {
    ...{ callbacks: Wakeup.make(), undone: Wakeup.make() },
    placement: Wakeup.make()
  } satisfies Record<Signal, Wakeup.Wakeup>
  const counts: Record<Signal, number> = { callbacks: 0, undone: 0, placement: 0 }
  return {
    arrive: (signal: Signal) =>
      Effect.suspend(() => {
        counts[signal]++
        return wakeups[signal].signal
      }),
    next: (signal: Signal) => wakeups[signal].next,
    count: (signal: Signal) => counts[signal]
  }
}
