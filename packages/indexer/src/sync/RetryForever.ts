/** A step beside a chain's sync loop, run for good: its failures are logged and tried again, also unforeseen ones. */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

const backoff = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** `what` begins the log line of a failure: "Finding … failed". */
export const retryForever = <E extends { readonly message: string }, R>(
  chain: Chain,
  what: string,
  pollInterval: Duration.Duration,
  step: Effect.Effect<void, E, R>
): Effect.Effect<never, never, R> =>
  step.pipe(
    Effect.tapError((error) => Effect.logWarning(`${what} failed: ${error.message}`)),
    Effect.tapDefect((defect) => Effect.logError(`${what} failed`, Cause.die(defect))),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry(backoff),
    Effect.orDie,
    Effect.andThen(Effect.sleep(pollInterval)),
    Effect.forever,
    Effect.annotateLogs({ chain: nameOf(chain) })
  )
