/** Writes the outcomes of attempts down, many in one transaction: when there are enough of them, or after a moment. */
import { Outbox, type Outcome } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"

export interface Outcomes {
  readonly add: (outcome: Outcome) => void
  /** Has `told` run when what was added so far is written. */
  readonly tell: () => void
  /** Writes as outcomes come in. Never returns. */
  readonly writer: Effect.Effect<never>
  /** Writes what is left; gives up where the store fails for long. */
  readonly flush: Effect.Effect<void>
}

/** How long nothing is written after the store has failed. */
const patience = "1 second"

export const make = Effect.fnUntraced(function* (options: {
  readonly batch: number
  readonly millis: number
  readonly told: Effect.Effect<void>
}) {
  const outbox = yield* Outbox
  const { batch, millis, told } = options
  const some = yield* Latch.make()
  const many = yield* Latch.make()
  let pending: Array<Outcome> = []
  let telling = false

  /** Writes what is there; whether it could. */
  const write = Effect.suspend(() => {
    const outcomes = pending
    if (outcomes.length === 0) return Effect.succeed(true)
    const tells = telling
    pending = []
    telling = false
    some.closeUnsafe()
    many.closeUnsafe()
    return outbox.settle(outcomes).pipe(
      Effect.andThen(tells ? told : Effect.void),
      Effect.as(true),
      Effect.catch((error) => {
        pending = [...outcomes, ...pending]
        telling ||= tells
        some.openUnsafe()
        return Effect.as(Effect.logWarning("The outcomes of attempts could not be written yet", error), false)
      })
    )
  }).pipe(Effect.uninterruptible)

  return {
    add: (outcome) => {
      pending.push(outcome)
      some.openUnsafe()
      if (pending.length >= batch) many.openUnsafe()
    },
    tell: () => {
      telling = true
    },
    writer: some.await.pipe(
      Effect.andThen(Effect.timeoutOption(many.await, millis)),
      Effect.andThen(write),
      Effect.flatMap((written) => (written ? Effect.void : Effect.sleep(patience))),
      Effect.catchCause((cause) => Effect.logError("Outcomes of attempts are lost", cause)),
      Effect.forever
    ),
    flush: Effect.asVoid(
      Effect.repeat(write, { until: (written) => written, schedule: Schedule.spaced(patience), times: 5 })
    )
  } satisfies Outcomes
})
