/** A step beside a chain's sync loop, run for good: its failures are logged and tried again, also unforeseen ones. */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as StoreAway from "./internal/StoreAway.ts"

const backoff = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** When a step follows another. */
export interface Pace {
  /** The least pause between two steps. */
  readonly pollInterval: Duration.Duration
  /** Waits until there may be something to do; without this, each pause is followed by a step. */
  readonly wanted?: Effect.Effect<void>
}

/** Tries a step until one succeeds. `what` begins the log line of a failure: "Finding … failed". */
export const untilDone = <A, E extends { readonly message: string }, R>(
  what: string,
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, never, R> =>
  StoreAway.whileStoreAway(step).pipe(
    Effect.tapError((error) => Effect.logWarning(`${what} failed: ${error.message}`)),
    Effect.tapDefect((defect) => Effect.logError(`${what} failed`, Cause.die(defect))),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry(backoff),
    Effect.orDie
  )

/** Steps for good, each {@link untilDone}. */
export const retryForever = <E extends { readonly message: string }, R>(
  chain: Chain,
  what: string,
  { pollInterval, wanted = Effect.void }: Pace,
  step: Effect.Effect<void, E, R>
): Effect.Effect<never, never, R> =>
  untilDone(what, step).pipe(
    Effect.andThen(Effect.sleep(pollInterval)),
    Effect.andThen(wanted),
    Effect.forever,
    Effect.annotateLogs({ chain: nameOf(chain) })
  )
