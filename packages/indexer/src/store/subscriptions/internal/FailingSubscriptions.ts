/** Subscriptions that fail, as operators see them. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import { isActive } from "./ReceiverState.ts"

/** A subscription whose last attempt failed. */
export interface Failure {
  readonly referenceId: string
  readonly account: string
  readonly host: string
  readonly since: number
  readonly last: number
  readonly status: number | undefined
  readonly error: string
  readonly pausedUntil: number
  /** When the account was told, after half of the retries. */
  readonly noticed: number | undefined
  readonly active: boolean
}

export const read = Effect.fn("FailingSubscriptions.read")(function* (limit: number, account?: number) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("failing_subscription as failing")
      .innerJoin("subscription", "subscription.id", "failing.subscription")
      .innerJoin("account", "account.id", "subscription.account")
      .select(["reference_id", "account.name", "failing.host", "since", "last", "status", "error", "paused_until"])
      .select(["active", "noticed"])
      .$if(account !== undefined, (select) => select.where("failing.account", "=", account!))
      .orderBy("since")
      .limit(limit)
  )
  return found.map(
    ({ active, error, host, last, name, noticed, paused_until, reference_id, since, status }): Failure => ({
      ...{ referenceId: reference_id, account: name, host, since, last, error, pausedUntil: paused_until },
      status: status ?? undefined,
      noticed: noticed ?? undefined,
      active: active === 1
    })
  )
})

export const count = Effect.fn("FailingSubscriptions.count")(function* () {
  const { read } = yield* Database
  const [found] = yield* read(
    rows(sql<{ count: number; noticed: number; since: number | null }>`
      select count(*) as count, count(noticed) as noticed, min(since) as since from failing_subscription
      where ${isActive}`)
  )
  return { count: Number(found!.count), noticed: Number(found!.noticed), since: found!.since ?? undefined }
})
