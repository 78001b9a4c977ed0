/**
 * What processes on one store tell one another at once. A signal is a hint and no more: rows say what is to be done, and
 * whoever waits for a signal also looks at the rows now and then. On SQLite, which one process has, signals stay in the
 * process; on PostgreSQL they reach every process that waits (`internal/PostgresSignals`).
 *
 * With a commit goes what the commit has made due, to the senders of its own process: they need not look for that.
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

/** A subscription that a callback has become due of. */
export interface DueSubscription {
  readonly host: string
  readonly account: number
  readonly subscription: number
}

export interface Signals {
  /** Tells every process that waits: inside a transaction once that has committed, if it does, and one time alone. */
  readonly send: (signal: Signal) => Effect.Effect<void>
  /** An effect that waits for the next signal of this kind after this moment. */
  readonly next: (signal: Signal) => Effect.Effect<Effect.Effect<void>>
  /** How many signals of this kind have come so far. */
  readonly count: (signal: Signal) => number
  /** As `send` of `callbacks`, where nothing became due but callbacks of these subscriptions. */
  readonly sendDue: (due: ReadonlyArray<DueSubscription>) => Effect.Effect<void>
  /** What became due since the last time, as far as this process was told; undefined where that may be anything. */
  readonly takeDue: Effect.Effect<ReadonlyArray<DueSubscription> | undefined>
}

/** What becomes due is noted up to so many subscriptions; whoever has not taken them until then looks for them. */
const mostDue = 4_096

/** Whether the processes on a PostgreSQL store tell one another; in simulations they have their own time. */
export const SignalsShared = Context.Reference<boolean>("@headwater/indexer/store/database/Signals/SignalsShared", {
  defaultValue: () => true
})

/**
 * The signals that have reached this process, and the ways to send them: `afterCommit` runs an effect behind the commit of
 * the surrounding transaction, once for each name; `tell` has other processes hear of a signal.
 */
export const make = (
  afterCommit: (name: string, run: Effect.Effect<void>) => Effect.Effect<void>,
  tell: (signal: Signal) => void = () => {}
) => {
  const wakeups = {
    ...{ callbacks: Wakeup.make(), undone: Wakeup.make() },
    placement: Wakeup.make()
  } satisfies Record<Signal, Wakeup.Wakeup>
  const counts: Record<Signal, number> = { callbacks: 0, undone: 0, placement: 0 }
  let due: Map<number, DueSubscription> | undefined
  let sent = 0
  const wake = (signal: Signal) => {
    counts[signal]++
    return wakeups[signal].signal
  }
  const arrive = (signal: Signal) =>
    Effect.suspend(() => {
      if (signal === "callbacks") due = undefined
      return wake(signal)
    })
  const signals: Signals = {
    send: (signal) =>
      afterCommit(
        signal,
        Effect.tap(arrive(signal), () => Effect.sync(() => tell(signal)))
      ),
    next: (signal) => wakeups[signal].next,
    count: (signal) => counts[signal],
    sendDue: (some) =>
      afterCommit(
        `due ${sent++}`,
        Effect.suspend(() => {
          for (const one of some) due?.set(one.subscription, one)
          if (due !== undefined && due.size > mostDue) due = undefined
          tell("callbacks")
          return wake("callbacks")
        })
      ),
    takeDue: Effect.sync(() => {
      const taken = due
      due = new Map()
      return taken === undefined ? undefined : [...taken.values()]
    })
  }
  return { ...signals, arrive }
}
