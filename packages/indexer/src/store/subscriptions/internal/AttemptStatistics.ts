/** Statistics of a receiver's attempts: how many it accepts, and how fast it answers. */
import type { Row } from "../../database/Tables.ts"
import type { Attempt } from "./AttemptLog.ts"
import { bounds } from "./DeliveryRecord.ts"

export interface AttemptStatistics {
  readonly attempts: number
  /** The part of the attempts that was accepted, from 0 to 1; undefined where there was none. */
  readonly successRate: number | undefined
  /** Milliseconds within which half of the answers came, and 99 of 100, whatever they were; undefined where there was none. */
  readonly p50: number | undefined
  readonly p99: number | undefined
}

const percentile = (durations: ReadonlyArray<readonly [millis: number, count: number]>, part: number) => {
  const total = durations.reduce((sum, [, count]) => sum + count, 0)
  let before = 0
  for (const [millis, count] of durations) {
    before += count
    if (before >= total * part) return millis
  }
  return undefined
}

type Counted = Pick<Row<"delivery_count">, "outcome" | "millis" | "attempts">

/** As {@link AttemptStatistics}, for those who watch over all receivers. */
export interface Summary extends AttemptStatistics {
  readonly accepted: number
  readonly failed: number
  readonly p95: number | undefined
}

/** By counts, whose times are upper bounds. Sums are texts on PostgreSQL. */
export const summaryOf = (counts: ReadonlyArray<Counted>): Summary => {
  let attempts = 0
  let accepted = 0
  const answers = new Map<number, number>()
  for (const count of counts) {
    const number = Number(count.attempts)
    const millis = Number(count.millis)
    attempts += number
    if (count.outcome === "accepted") accepted += number
    if (count.outcome !== "unanswered") answers.set(millis, (answers.get(millis) ?? 0) + number)
  }
  const durations = [...answers].sort(([a], [b]) => a - b)
  return {
    ...{ attempts, accepted, failed: attempts - accepted },
    successRate: attempts === 0 ? undefined : accepted / attempts,
    p50: percentile(durations, 0.5),
    p95: percentile(durations, 0.95),
    p99: percentile(durations, 0.99)
  }
}

/** As {@link summaryOf}, without what receivers' owners are not told. */
export const ofCounts = (counts: ReadonlyArray<Counted>): AttemptStatistics => {
  const { attempts, p50, p99, successRate } = summaryOf(counts)
  return { attempts, successRate, p50, p99 }
}

/** By attempts themselves, as exact as the counts. */
export const ofAttempts = (attempts: ReadonlyArray<Attempt>): AttemptStatistics =>
  ofCounts(
    attempts.map(({ duration, error, status }) => ({
      outcome: error === undefined ? "accepted" : status === undefined ? "unanswered" : "refused",
      millis: bounds.find((bound) => duration <= bound) ?? bounds.at(-1)!,
      attempts: 1
    }))
  )
