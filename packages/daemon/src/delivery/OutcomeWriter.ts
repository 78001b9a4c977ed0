/**
 * Writes the outcomes of attempts down, many in one transaction, since a commit costs as much as the outcomes of a hundred attempts:
 * when there are enough of them, or after a moment; after several where nobody waits for what they change. Of what is not
 * written when the process is killed, callbacks are sent again.
 */
import type { Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as SaidOnce from "./internal/SaidOnce.ts"

export interface OutcomeWriter {
  readonly add: (outcome: Outcome) => void
  /** Whether the store failed to take the outcomes that are to be written next. */
  readonly isStuck: () => boolean
  /** Has `flushed` run when the outcomes that were added so far are written. */
  readonly notifyFlushed: () => void
  /** Writes as outcomes come in. Never returns. */
  readonly run: Effect.Effect<never>
  /** Writes what is left; gives up where the store fails for long. */
  readonly flush: Effect.Effect<void>
}

/** How long nothing is written after the store has failed. */
const pause = "1 second"

export const make = Effect.fnUntraced(function* (options: {
  readonly batchSize: number
  /** A moment. */
  readonly batchMillis: number
  /** How many moments outcomes wait at most. */
  readonly moments: number
  readonly flushed: Effect.Effect<void>
}) {
  const outbox = yield* Outbox
  const { batchMillis, batchSize, flushed, moments } = options
  const some = yield* Latch.make()
  const many = yield* Latch.make()
  let pending: Array<Outcome> = []
  let notify = false
  let stuck = false
  const said = SaidOnce.make("The outcomes of attempts could not be written yet")
  /** Whether the store is another one now: those that were sent are sent again there, under their keys. */
  let replaced = false

  /** Writes what is there; whether it could. */
  const write = Effect.suspend(() => {
    const outcomes = pending
    if (outcomes.length === 0) return Effect.succeed(true)
    const notifies = notify
    pending = []
    notify = false
    some.closeUnsafe()
    many.closeUnsafe()
    return outbox.acknowledge(outcomes).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          stuck = false
          said.worked()
          return notifies ? flushed : Effect.void
        })
      ),
      Effect.as(true),
      Effect.catch((error) => {
        stuck = true
        replaced = error.replaced
        pending = [...outcomes, ...pending]
        notify ||= notifies
        some.openUnsafe()
        return Effect.as(said.failed(Cause.fail(error)), false)
      })
    )
  }).pipe(Effect.uninterruptible)

  // Where there are enough, no moment takes any time.
  const gathered = Effect.repeat(Effect.timeoutOption(many.await, batchMillis), {
    until: () => notify,
    times: moments - 1
  })

  return {
    add: (outcome) => {
      pending.push(outcome)
      some.openUnsafe()
      if (pending.length >= batchSize) many.openUnsafe()
    },
    isStuck: () => stuck,
    notifyFlushed: () => {
      notify = true
    },
    run: some.await.pipe(
      Effect.andThen(gathered),
      Effect.andThen(write),
      Effect.flatMap((written) => (written ? Effect.void : Effect.sleep(pause))),
      Effect.catchCause((cause) => Effect.logError("Outcomes of attempts are lost", cause)),
      Effect.forever
    ),
    flush: Effect.asVoid(
      Effect.repeat(write, { until: (written) => written || replaced, schedule: Schedule.spaced(pause), times: 5 })
    )
  } satisfies OutcomeWriter
})
