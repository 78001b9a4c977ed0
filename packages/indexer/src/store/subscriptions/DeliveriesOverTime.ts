/** Attempts to deliver over time, of all accounts or of one: by periods of the last day, and by days of the last month. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as AttemptStatistics from "./internal/AttemptStatistics.ts"
import * as DeliveryRecord from "./internal/DeliveryRecord.ts"

/** Attempts of a period, or of a day. */
export interface Period extends AttemptStatistics.Summary {
  /** When it began. */
  readonly at: number
}

type Counts = Pick<Row<"delivery_count">, "outcome" | "millis" | "attempts"> & { readonly at: number }

const and = (account?: number) => (account === undefined ? sql`` : sql`and account = ${account}`)

/** The counts of periods, of all accounts or of one. Nearly all rows are meant: expressions keep planners from the index of periods. */
const ofPeriods = (first: number, account?: number) => sql<Counts>`
  select period + 0 as at, outcome, millis, sum(attempts) as attempts from delivery_count
  where period + 0 >= ${first} ${and(account)} group by period + 0, outcome, millis`

/** `count` periods from `first` on, each `millis` long. */
const series = (counts: ReadonlyArray<Counts>, first: number, millis: number, count: number) => {
  const byStart = Map.groupBy(counts, ({ at }) => Number(at))
  return Array.from({ length: count }, (_, i): Period => {
    const at = first + i * millis
    return { at, ...AttemptStatistics.summaryOf(byStart.get(at) ?? []) }
  })
}

const firstPeriod = Effect.map(
  Clock.currentTimeMillis,
  (now) => DeliveryRecord.periodOf(now) - (DeliveryRecord.keptPeriods - 1) * DeliveryRecord.periodMillis
)

/** Each period of the last day, the present one at the end, over all accounts. */
export const periods = Effect.gen(function* () {
  const { read } = yield* Database
  const first = yield* firstPeriod
  const counts = yield* read(rows(ofPeriods(first)))
  return series(counts, first, DeliveryRecord.periodMillis, DeliveryRecord.keptPeriods)
}).pipe(Effect.withSpan("DeliveriesOverTime.periods"))

/** Attempts over time. */
interface OverTime {
  /** Each period of the last day, the present one at the end. */
  readonly day: ReadonlyArray<Period>
  /** Each of the last 30 days in UTC, the present one at the end. */
  readonly month: ReadonlyArray<Period>
  /** The first day with an attempt; undefined where there is none. */
  readonly monthSince: number | undefined
  readonly last24h: AttemptStatistics.Summary
  readonly last30d: AttemptStatistics.Summary
}

/**
 * Attempts of the last day and the last month. A period that is over for a day goes from one table to the other meanwhile:
 * one statement reads both.
 */
export const read = Effect.fn("DeliveriesOverTime.read")(function* (account?: number) {
  const { read } = yield* Database
  const { dayMillis, keptDays, keptPeriods, periodMillis } = DeliveryRecord
  const today = DeliveryRecord.dayOf(yield* Clock.currentTimeMillis)
  const firstDay = today - (keptDays - 1) * dayMillis
  const first = yield* firstPeriod
  const found = yield* read(
    rows(sql<Counts & { readonly summed: number }>`
      select at, outcome, millis, attempts, 0 as summed from (${ofPeriods(firstDay, account)}) periods
      union all
      select day as at, outcome, millis, sum(attempts) as attempts, 1 as summed from delivery_day
      where day >= ${firstDay} ${and(account)} group by day, outcome, millis`)
  )
  // A sum of a day begins with the day, as may a period of the last day.
  const ofDay = found.filter(({ at, summed }) => summed === 0 && at >= first)
  const ofMonth = found.map((count) => ({ ...count, at: DeliveryRecord.dayOf(Number(count.at)) }))
  const month = series(ofMonth, firstDay, dayMillis, keptDays)
  return {
    day: series(ofDay, first, periodMillis, keptPeriods),
    month,
    monthSince: month.find(({ attempts }) => attempts > 0)?.at,
    last24h: AttemptStatistics.summaryOf(ofDay),
    last30d: AttemptStatistics.summaryOf(ofMonth)
  } satisfies OverTime
})
