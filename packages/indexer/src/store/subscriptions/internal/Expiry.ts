/**
 * The bounds of what is parked for an active subscription whose host is not verified yet: by age and by number, the
 * oldest callbacks are given up first. They get their numbers all the same, so that the receiver can tell which it
 * missed. What an inactive subscription has parked stays: from the same bounds on, nothing is added ({@link Gaps}).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import * as ProvenTime from "../../chain/ProvenTime.ts"
import { Database } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import type { HostPermission } from "../HostPermission.ts"
import { parked } from "./CallbackIndexes.ts"

export interface Bounds {
  readonly parkedMillis: number
  readonly parkedCount: number
}

type Numbered = Pick<Row<"subscription">, "id" | "last_sequence">

/** Gives up parked callbacks of a subscription, as many as a step changes, in a transaction that has its lock; how many. */
const expire = Effect.fnUntraced(function* (subscription: Numbered, which: RawBuilder<unknown>) {
  const { query, updateEach } = yield* Database
  const old = yield* query(
    rows(sql<Pick<Row<"callback">, "id" | "sequence">>`
      select id, sequence from callback where ${parked} and subscription = ${subscription.id} and ${which}
      order by id limit ${SmallSteps.callbacksAtOnce}`)
  )
  if (old.length === 0) return 0
  let last = subscription.last_sequence
  yield* CallbackState.applyEach(
    "expire",
    old.map(({ id, sequence }) => ({ id, sequence: sequence ?? ++last }))
  )
  yield* updateEach("subscription", [{ id: subscription.id, last_sequence: last }])
  return old.length
})

/** Gives up the oldest of a subscription's parked callbacks, beyond the number that is kept; with its lock. */
export const trim = (subscription: Numbered, { parkedCount }: Bounds) =>
  expire(
    subscription,
    sql`id <= (
      select id from callback where ${parked} and subscription = ${subscription.id}
      order by id desc limit 1 offset ${parkedCount}
    )`
  )

/** A subscription with parked callbacks; without an account where the subscription is gone. */
type Parked = { readonly overdue: number } & (
  | Pick<Row<"subscription">, "id" | "account" | "host" | "active">
  | { readonly id: number; readonly account: null; readonly host: null; readonly active: null }
)

/** The next subscriptions after one with parked callbacks, and whether the oldest of these are to be given up. */
const parkedSubscriptions = Effect.fnUntraced(function* (after: number, before: number) {
  const { read } = yield* Database
  return yield* read(
    rows(sql<Parked>`
      with recursive parked(id) as (
        select min(subscription) from callback where ${parked} and subscription > ${after}
        union all
        select (select min(subscription) from callback where ${parked} and subscription > parked.id)
        from parked where parked.id is not null
      )
      select parked.id, account, host, active, case when (
        select created from callback where ${parked} and subscription = parked.id order by callback.id limit 1
      ) < ${before} then 1 else 0 end as overdue
      from parked left join subscription on subscription.id = parked.id where parked.id is not null limit ${SmallSteps.page}`)
  )
})

const release = Effect.fnUntraced(function* (id: number) {
  const { forUpdate, query } = yield* Database
  const [subscription] = yield* query(
    rows(sql`select id from subscription where id = ${id} and active = 1 ${forUpdate}`)
  )
  if (subscription !== undefined) yield* CallbackState.resume(id, yield* Clock.currentTimeMillis)
})

const expireOverdue = Effect.fnUntraced(function* (id: number, before: number) {
  const { forUpdate, query } = yield* Database
  const [subscription] = yield* query(
    rows(sql<Numbered>`
      select id, last_sequence from subscription where id = ${id} and active = 1 ${forUpdate}`)
  )
  return subscription === undefined ? 0 : yield* expire(subscription, sql`created < ${before}`)
})

/**
 * Gives up what has been parked for longer than is kept; how many callbacks. What may be sent begins to go again, where
 * the process ended that let it go.
 */
export const overdue = Effect.fnUntraced(function* (
  { parkedMillis }: Bounds,
  mayReceive: typeof HostPermission.Service
) {
  const { transaction } = yield* Database
  const before = (yield* ProvenTime.now) - parkedMillis
  let count = 0
  yield* SmallSteps.eachRow(
    (after) => parkedSubscriptions(after, before),
    Effect.fnUntraced(function* ({ account, active, host, id, overdue }) {
      if (active !== 1) return
      if (yield* mayReceive(account!, host!)) return yield* transaction(release(id))
      if (overdue !== 1) return
      yield* SmallSteps.whileMore(
        Effect.map(transaction(expireOverdue(id, before)), (expired) => {
          count += expired
          return expired === SmallSteps.callbacksAtOnce
        })
      )
    })
  )
  return count
})
