/** Writes the outcomes of attempts down, many in one transaction: when there are enough of them, or after a moment. */
import { Outbox, type Outcome } from "@headwater/indexer/store/Outbox"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"

export interface Outcomes {
  readonly add: (outcome: Outcome) => void
  /** Writes as outcomes come in; `written` is run after each time. Never returns. */
  readonly writer: Effect.Effect<never>
  /** Writes what is left. */
  readonly flush: Effect.Effect<void>
}

const patience = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

export const make = Effect.fnUntraced(function* (options: {
  readonly batch: number
  readonly millis: number
  readonly written: Effect.Effect<void>
}) {
  const outbox = yield* Outbox
  const { batch, millis, written } = options
  const some = yield* Latch.make()
  const many = yield* Latch.make()
  let pending: Array<Outcome> = []

  const flush = Effect.suspend(() => {
    const outcomes = pending
    if (outcomes.length === 0) return Effect.void
    pending = []
    some.closeUnsafe()
    many.closeUnsafe()
    return outbox.settle(outcomes).pipe(
      Effect.tapError((error) => Effect.logWarning("The outcomes of attempts could not be written yet", error)),
      Effect.retry(patience),
      // An endless retry ends only in success.
      Effect.orDie,
      Effect.andThen(written)
    )
  }).pipe(Effect.uninterruptible)

  return {
    add: (outcome) => {
      pending.push(outcome)
      some.openUnsafe()
      if (pending.length >= batch) many.openUnsafe()
    },
    writer: some.await.pipe(
      Effect.andThen(Effect.timeoutOption(many.await, millis)),
      Effect.andThen(flush),
      Effect.forever
    ),
    flush
  } satisfies Outcomes
})
