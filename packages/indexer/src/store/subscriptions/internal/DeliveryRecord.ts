/**
 * What is kept of attempts to deliver, beside the callbacks: counts for each account's hosts, and the subscriptions that
 * fail. Both are written in the transaction of the outcomes, so that several daemons agree.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import type { Outcome } from "../Lease.ts"

type Count = Row<"delivery_count">
type Failing = Omit<Row<"failing_subscription">, "noticed">
type Finished = Exclude<Outcome, { readonly kind: "released" }>

/** Attempts are counted in periods of ten minutes, which are kept for a day. */
export const periodMillis = 600_000
export const keptPeriods = 144

/** Of what is older the sums of each day are kept, for so many days, the present one among them. */
export const dayMillis = 86_400_000
export const keptDays = 30

/** The beginning of the day of a moment. */
export const dayOf = (at: number) => at - (at % dayMillis)

/** Durations are told apart by these bounds, in milliseconds: a share of an answer's time is right to about a half. */
export const bounds: ReadonlyArray<number> = [
  ...[5, 10, 15, 25, 40, 65, 100, 150, 250, 400, 650],
  ...[1000, 1500, 2500, 4000, 6500, 10_000, 30_000, 60_000]
]

/** The beginning of the period of a moment. */
export const periodOf = (at: number) => at - (at % periodMillis)

const countsOf = (outcomes: ReadonlyArray<Finished>) => {
  const counts = new Map<string, Count>()
  for (const { attempt, callback, kind } of outcomes) {
    const { account, host } = callback
    const outcome = kind === "delivered" ? "accepted" : attempt.status === undefined ? "unanswered" : "refused"
    const period = periodOf(attempt.at + attempt.duration)
    const millis = bounds.find((bound) => attempt.duration <= bound) ?? bounds.at(-1)!
    const key = `${account} ${host} ${period} ${outcome} ${millis}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { account, host, period, outcome, millis, attempts: 1 })
    else known.attempts++
  }
  return counts
}

/** The subscriptions that accepted something, and those that fail after the outcomes; a failure after an acceptance is a new one. */
const failuresOf = (outcomes: ReadonlyArray<Finished>) => {
  const accepting = new Set<number>()
  const failing = new Map<number, Failing>()
  for (const outcome of outcomes) {
    const { attempt, callback, kind } = outcome
    const { account, host, subscription } = callback
    if (kind === "delivered") {
      accepting.add(subscription)
      failing.delete(subscription)
      continue
    }
    failing.set(subscription, {
      ...{ subscription, account, host, last: attempt.at, status: attempt.status ?? null },
      // PostgreSQL takes no NUL, and would refuse every outcome beside.
      error: (attempt.error ?? "").replaceAll("\0", ""),
      since: failing.get(subscription)?.since ?? attempt.at,
      paused_until: kind === "retry" ? (outcome.pausedUntil ?? 0) : 0
    })
  }
  return { accepting, failing }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

/** Writes down what outcomes say, in their transaction. Rows are locked in one order, or two daemons would wait for each other. */
export const write = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>) {
  const { defer, exclusive, forUpdate, insertMany, numbers, query } = yield* Database
  const finished = outcomes.filter((outcome) => outcome.kind !== "released")
  if (finished.length === 0) return
  const counts = countsOf(finished)
  const { accepting, failing } = failuresOf(finished)
  const ended = numbers([...accepting])
  if (!exclusive) {
    const touched = numbers([...new Set([...accepting, ...failing.keys()])])
    yield* query(
      rows(sql`select 1 from failing_subscription where subscription in ${touched} order by subscription ${forUpdate}`)
    )
  }
  if (accepting.size > 0) {
    yield* defer((db) => db.deleteFrom("failing_subscription").where(sql<boolean>`subscription in ${ended}`))
  }
  yield* insertMany(
    "failing_subscription",
    [...failing.values()].sort((a, b) => a.subscription - b.subscription),
    `on conflict (subscription) do update set
      last = excluded.last, status = excluded.status, error = excluded.error, paused_until = excluded.paused_until`
  )
  yield* insertMany(
    "delivery_count",
    [...counts].sort(byKey).map(([, count]) => count),
    `on conflict (account, host, period, outcome, millis)
      do update set attempts = delivery_count.attempts + excluded.attempts`
  )
})

/** Counts of one step: some ten milliseconds. */
const countsAtOnce = 1_000

/**
 * Adds some counts of periods before `before` to their days, in a transaction; whether there may be more. Two daemons add no
 * row twice, and wait for none of each other's.
 */
const endPeriods = Effect.fnUntraced(function* (before: number) {
  const { forUpdateSkipLocked, insertMany, query } = yield* Database
  const key = sql`account, host, period, outcome, millis`
  // A subquery that locks its rows may be done again for each row of a join, and skips then what is deleted: a limit of none.
  const removed = yield* query(
    rows(sql<Pick<Count, "account" | "period" | "outcome" | "millis" | "attempts">>`
      with ended as materialized (
        select ${key} from delivery_count where period < ${before} order by period limit ${countsAtOnce} ${forUpdateSkipLocked}
      )
      delete from delivery_count where (${key}) in (select ${key} from ended)
      returning account, period, outcome, millis, attempts`)
  )
  const days = new Map<string, Row<"delivery_day">>()
  for (const { account, attempts, millis, outcome, period } of removed) {
    const day = dayOf(period)
    const key = JSON.stringify([account, day, outcome, millis])
    const sum = (days.get(key)?.attempts ?? 0) + attempts
    days.set(key, { account, day, outcome, millis, attempts: sum })
  }
  yield* insertMany(
    "delivery_day",
    [...days].sort(byKey).map(([, day]) => day),
    `on conflict (account, day, outcome, millis) do update set attempts = delivery_day.attempts + excluded.attempts`
  )
  return removed.length === countsAtOnce
})

/**
 * Adds counts that are older than a day to those of their days, and forgets days that are older than a month, and failures
 * whose outcome came after the end of their subscription.
 */
export const prune = Effect.gen(function* () {
  const { query, transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const before = periodOf(now) - keptPeriods * periodMillis
  yield* SmallSteps.whileMore(transaction(endPeriods(before)))
  yield* query((db) => db.deleteFrom("delivery_day").where("day", "<=", dayOf(now) - keptDays * dayMillis))
  yield* query(
    rows(sql`
      delete from failing_subscription
      where not exists (select 1 from subscription s where s.id = failing_subscription.subscription)`)
  )
}).pipe(Effect.withSpan("DeliveryRecord.prune"))
