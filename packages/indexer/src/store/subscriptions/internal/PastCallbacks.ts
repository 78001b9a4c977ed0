/**
 * Callbacks whose delivery ended long ago, where the store has partitions for them ({@link CallbackPartitions}): out of the
 * table that everything else about callbacks works on. Feeds and look-ups read `every_callback`, which has both; who changes a
 * past callback recalls it first.
 *
 * A key belongs to one callback, past or not. No index holds that, locks do: a callback becomes past in a transaction that has
 * the locks of its chain and its subscription, a birth has the chain's, and who recalls has the subscription's.
 */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import type { CallbackState } from "../../database/tables/CallbackTables.ts"

/** A callback that is to be entered. */
type Born = Pick<Row<"callback">, "chain" | "height" | "idempotency_key">

/** Makes past callbacks what they were, in a transaction that has the locks of their subscriptions. */
export const recall = Effect.fnUntraced(function* (which: RawBuilder<unknown>) {
  const { partitioned, query } = yield* Database
  if (!partitioned) return
  yield* query(rows(sql`update every_callback callback set past_day = 0 where past_day > 0 and (${which})`))
})

/** In a transaction: removes up to `most` past callbacks, of subscriptions that are gone; how many. */
export const removeSome = Effect.fnUntraced(function* (which: RawBuilder<unknown>, most: number) {
  const { numbers, partitioned, query } = yield* Database
  if (!partitioned) return 0
  const found = yield* query(
    rows(sql<{ id: number }>`select id from every_callback where past_day > 0 and (${which}) limit ${most}`)
  )
  if (found.length === 0) return 0
  const ids = numbers(found.map(({ id }) => id))
  yield* query(rows(sql`delete from every_callback where past_day > 0 and id in ${ids}`))
  return found.length
})

/**
 * Whether a past callback may have the key of one of these. A block's callbacks may only where past ones tell of a block as
 * high: what a chain tells at its tip is new.
 */
export const mayHave = Effect.fnUntraced(function* (callbacks: ReadonlyArray<Born>) {
  const { numbers, partitioned, query } = yield* Database
  if (!partitioned) return false
  const found = yield* query(
    rows(sql<Row<"past_callback_height">>`
      select chain, height from past_callback_height
      where chain in ${numbers([...new Set(callbacks.map(({ chain }) => chain))])}`)
  )
  const highest = new Map(found.map(({ chain, height }) => [chain, height]))
  return callbacks.some(({ chain, height }) => {
    const past = highest.get(chain)
    return past !== undefined && (height === null || height <= past)
  })
})

/**
 * The callbacks without those whose key a past one has, in a transaction that has the chain's lock. A past one in a state that
 * a birth ends is recalled, for the birth to find.
 */
export const without = Effect.fnUntraced(function* <C extends Born>(
  callbacks: ReadonlyArray<C>,
  ends: ReadonlyArray<CallbackState>
) {
  const { lockRows, numbers, query } = yield* Database
  const found = yield* inChunks(
    callbacks.map(({ idempotency_key }) => idempotency_key),
    (some) =>
      query((db) =>
        db
          .selectFrom("every_callback")
          .select(["id", "idempotency_key", "state", "subscription"])
          .where("past_day", ">", 0)
          .where("idempotency_key", "in", some)
      )
  )
  const returning = found.filter(({ state }) => ends.includes(state))
  if (returning.length > 0) {
    const owners = sql<boolean>`id in ${numbers(returning.map(({ subscription }) => subscription))}`
    yield* lockRows((db) => db.selectFrom("subscription").select("id").where(owners).orderBy("id"))
    yield* recall(sql`id in ${numbers(returning.map(({ id }) => id))}`)
  }
  const past = new Set(found.flatMap(({ idempotency_key, state }) => (ends.includes(state) ? [] : idempotency_key)))
  return past.size === 0 ? callbacks : callbacks.filter(({ idempotency_key }) => !past.has(idempotency_key))
})
