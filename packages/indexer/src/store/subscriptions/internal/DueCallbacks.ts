/**
 * Finds what is due, host by host, by steps through indexes that hold nothing else: the cost grows with the number of
 * hosts and of subscriptions that are looked at, not with their backlogs. All are reads: what they find may be leased
 * by another process a moment later.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { HostCapacity } from "../Lease.ts"
import { retried, unsent } from "./CallbackIndexes.ts"

/** Hosts that there is something to send to at this moment. */
export const hosts = Effect.fnUntraced(function* (now: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ host: string }>`
      with recursive
        first(host) as (
          select min(host) from callback where ${unsent}
          union all
          select (select min(host) from callback where ${unsent} and host > first.host)
          from first where first.host is not null
        ),
        again(host) as (
          select min(host) from callback where ${retried}
          union all
          select (select min(host) from callback where ${retried} and host > again.host)
          from again where again.host is not null
        )
      select host from first where host is not null
      union
      select host from again
      where host is not null
        and (select min(due) from callback where ${retried} and callback.host = again.host) <= ${now}`)
  )
  return found.map(({ host }) => host)
})

/** Subscriptions behind the cursor whose oldest callback that was never sent is not leased. */
const streamsAfter = Effect.fnUntraced(function* (host: string, cursor: number, limit: number, now: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ subscription: number }>`
      with recursive stream(subscription) as (
        select min(subscription) from callback where ${unsent} and host = ${host} and subscription > ${cursor}
        union all
        select (
          select min(c.subscription) from callback c
          where ${unsent} and c.host = ${host} and c.subscription > stream.subscription
        )
        from stream where stream.subscription is not null
      )
      select subscription from stream
      where subscription is not null and (
        select c.leased_until from callback c
        where ${unsent} and c.host = ${host} and c.subscription = stream.subscription
        order by c.id limit 1
      ) <= ${now}
      limit ${limit}`)
  )
  return found.map(({ subscription }) => subscription)
})

/** Subscriptions of the host whose oldest callback that was never sent is not leased, each in its turn. */
export const streams = Effect.fnUntraced(function* (
  { host, roundRobinCursor }: HostCapacity,
  limit: number,
  now: number
) {
  if (limit === 0) return []
  const next = yield* streamsAfter(host, roundRobinCursor, limit, now)
  if (next.length === limit || roundRobinCursor === 0) return next
  const start = yield* streamsAfter(host, 0, limit - next.length, now)
  return [...next, ...start.filter((subscription) => subscription <= roundRobinCursor)]
})

/** Ids of the host's callbacks that are to be sent again, in the order of their times. */
export const retries = Effect.fnUntraced(function* ({ host }: HostCapacity, limit: number, now: number) {
  if (limit === 0) return []
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ id: number }>`
      select id from callback
      where ${retried} and host = ${host} and due <= ${now} and leased_until <= ${now}
      order by due limit ${limit}`)
  )
  return found.map(({ id }) => id)
})
