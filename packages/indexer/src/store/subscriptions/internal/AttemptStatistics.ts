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

/** By counts, whose times are upper bounds. Sums are texts on PostgreSQL. */
export const ofCounts = (counts: ReadonlyArray<Counted>): AttemptStatistics => {
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
    attempts,
    successRate: attempts === 0 ? undefined : accepted / attempts,
    p50: percentile(durations, 0.5),
    p99: percentile(durations, 0.99)
  }
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
