/**
 * Events whose block returns after they were retracted. A retraction ends the key of a callback: the event is told again
 * by a callback with a key of its own, which names the one that was taken back.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"

/** A callback that is to be entered, as far as its key and its block go. */
type Keyed = Pick<Row<"callback">, "body" | "chain" | "event" | "height" | "idempotency_key">

/** Where told events are looked for. */
type Table = "callback" | "every_callback"

/** Whether any callback of these blocks was retracted: mostly none was, and no key has to be looked up. */
const anyRetracted = Effect.fnUntraced(function* (table: Table, chain: number, heights: ReadonlyArray<number>) {
  const { numbers, read } = yield* Database
  const [row] = yield* read(
    rows(sql`
      select 1 from ${sql.table(table)}
      where state = 'retracted' and chain = ${chain} and height in ${numbers(heights)} limit 1`)
  )
  return row !== undefined
})

/** Those of the keys that a retraction has ended. */
const ended = Effect.fnUntraced(function* (table: Table, keys: ReadonlyArray<string>) {
  const { read } = yield* Database
  const found = yield* inChunks(keys, (some) =>
    read((db) =>
      db
        .selectFrom(table)
        .select("idempotency_key")
        .where("idempotency_key", "in", some)
        .where("state", "=", "retracted")
    )
  )
  return new Set(found.map(({ idempotency_key }) => idempotency_key))
})

interface Telling<C> {
  /** As the event was told for the first time. */
  readonly first: C
  readonly callback: C
}

const next = <C extends Keyed>({ callback, first }: Telling<C>, told: number): Telling<C> => {
  const restoresIdempotencyKey = callback.idempotency_key
  const idempotencyKey = Callback.keyOfTelling(first.idempotency_key, told)
  const body = Callback.bodyAgain(first.body, { idempotencyKey, restoresIdempotencyKey })
  return { first, callback: { ...first, idempotency_key: idempotencyKey, body } }
}

/** The callbacks, of which those with an ended key are made anew; in a transaction that has the lock of their chain. */
export const toldAgain = Effect.fnUntraced(function* <C extends Keyed>(callbacks: ReadonlyArray<C>, table: Table) {
  const heights = new Set(callbacks.flatMap(({ height }) => height ?? []))
  if (heights.size === 0) return callbacks
  if (!(yield* anyRetracted(table, callbacks[0]!.chain, [...heights]))) return callbacks
  let tellings = callbacks.map((callback): Telling<C> => ({ first: callback, callback }))
  let told = 1
  let keys = yield* ended(
    table,
    callbacks.map(({ idempotency_key }) => idempotency_key)
  )
  while (keys.size > 0) {
    told++
    const isEnded = ({ callback }: Telling<C>) => keys.has(callback.idempotency_key)
    tellings = tellings.map((telling) => (isEnded(telling) ? next(telling, told) : telling))
    keys = yield* ended(
      table,
      tellings.flatMap(({ callback, first }) => (callback === first ? [] : callback.idempotency_key))
    )
  }
  return tellings.map(({ callback }) => callback)
})
