/**
 * Callbacks that are held back: of an inactive subscription until it is active again, of an active one until its host is
 * verified. The latter are bounded by age and number, the oldest are given up first; they get their numbers all the
 * same, so that the receiver can tell what it missed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"

interface Bounds {
  readonly heldMillis: number
  readonly heldCount: number
}

type Counted = Pick<Row<"subscription">, "id" | "last_sequence">

const giveUp = Effect.fnUntraced(function* (subscription: Counted, which: RawBuilder<unknown>) {
  const { query, updateEach } = yield* Database
  const old = yield* query(
    rows(sql<Pick<Row<"callback">, "id" | "sequence">>`
      select id, sequence from callback
      where state = 'held' and subscription = ${subscription.id} and ${which} order by id`)
  )
  if (old.length === 0) return 0
  let last = subscription.last_sequence
  const expired = old.map(({ id, sequence }) => ({ id, state: "expired" as const, sequence: sequence ?? ++last }))
  yield* updateEach("callback", expired)
  yield* updateEach("subscription", [{ id: subscription.id, last_sequence: last }])
  return old.length
})

/** Holds back everything that a subscription was to send. */
export const hold = ({
  host,
  id
}: Pick<Row<"subscription">, "id" | "host">): Effect.Effect<void, DatabaseError, Database> =>
  // Two statements for the two indexes of what is due: the subscription's callbacks of all times may be millions.
  Effect.forEach(
    [sql`attempts = 0`, sql`attempts > 0`],
    (waiting) =>
      Effect.flatMap(Database, ({ query }) =>
        query(
          rows(sql`
            update callback set state = 'held'
            where state = 'due' and ${waiting} and host = ${host} and subscription = ${id}`)
        )
      ),
    { discard: true }
  )

/** Lets a subscription's callbacks go again, each as if it had never been sent. */
export const release = (subscription: number, now: number): Effect.Effect<void, DatabaseError, Database> =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.asVoid(
      query(
        rows(sql`
          update callback set state = 'due', due = ${now}, attempts = 0, leased_until = 0
          where state = 'held' and subscription = ${subscription}`)
      )
    )
  )

/** Gives up what an unverified host's subscription has beyond what may wait, in a transaction that has its lock. */
export const trim = (subscription: Counted, { heldCount }: Bounds): Effect.Effect<number, DatabaseError, Database> =>
  giveUp(
    subscription,
    sql`id <= (
      select id from callback where state = 'held' and subscription = ${subscription.id}
      order by id desc limit 1 offset ${heldCount}
    )`
  )

const page = 500

/** Gives up what has waited too long; how many callbacks that were. */
export const expire = ({ heldMillis }: Bounds): Effect.Effect<number, DatabaseError, Database> =>
  Effect.gen(function* () {
    const database = yield* Database
    const before = (yield* Clock.currentTimeMillis) - heldMillis
    let after = 0
    let count = 0
    while (true) {
      const found = yield* database.read(
        rows(sql<{ id: number; old: number }>`
          with recursive waiting(id) as (
            select min(subscription) from callback where state = 'held' and subscription > ${after}
            union all
            select (select min(c.subscription) from callback c where c.state = 'held' and c.subscription > waiting.id)
            from waiting where waiting.id is not null
          )
          select id, case when (select s.active from subscription s where s.id = waiting.id) = 1 and (
            select c.created from callback c where c.state = 'held' and c.subscription = waiting.id
            order by c.id limit 1
          ) < ${before} then 1 else 0 end as old
          from waiting where id is not null limit ${page}`)
      )
      for (const { id, old } of found) {
        if (old === 0) continue
        count += yield* database.transaction(
          Effect.gen(function* () {
            const [subscription] = yield* database.query(
              rows(sql<Counted>`
                select id, last_sequence from subscription where id = ${id} and active = 1
                ${database.forUpdate}`)
            )
            return subscription === undefined ? 0 : yield* giveUp(subscription, sql`created < ${before}`)
          })
        )
      }
      const last = found.at(-1)
      if (last === undefined || found.length < page) return count
      after = last.id
      yield* Effect.sleep("10 millis")
    }
  })
