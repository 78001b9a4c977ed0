/**
 * The epoch of a store: a random word that a restore from a backup changes. After a restore numbers that were given before
 * stand for something else: who remembers a number with its epoch can be told.
 *
 * A copy by `Backup`, a dump of PostgreSQL and a standby that was promoted get an epoch of their own by themselves: the last,
 * unless this process knows that commits have waited for the standby. Of another copy of the files, as a snapshot of the
 * disk, the operator has to say that it was put back (`headwater restored`).
 */
import { randomBytes } from "node:crypto"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "./Database.ts"
import { rows } from "./Statements.ts"
import type { Row } from "./Tables.ts"

const random = Effect.sync(() => randomBytes(6).toString("hex"))

interface Known extends Pick<Row<"store_epoch">, "epoch"> {
  readonly is: "same" | "former" | "other"
}

const known = Effect.fnUntraced(function* (run: "query" | "read") {
  const database = yield* Database
  const kinds = [
    sql`when ${database.identity} then 'same'`,
    ...database.formerIdentities.map((identity) => sql`when ${identity} then 'former'`)
  ]
  const [row] = yield* database[run](
    rows(sql<Known>`
      select epoch, case identity ${sql.join(kinds, sql` `)} else 'other' end as "is" from store_epoch where id = 1`)
  )
  if (row?.is === "former") {
    yield* database.query(rows(sql`update store_epoch set identity = ${database.identity} where epoch = ${row.epoch}`))
  }
  return row === undefined || row.is === "other" ? undefined : row.epoch
})

/** Of several processes that find no epoch of this store one gives it. */
const give = Effect.gen(function* () {
  const { identity, query } = yield* Database
  const epoch = yield* random
  yield* query(
    rows(sql`
      insert into store_epoch (id, epoch, identity) values (1, ${epoch}, ${identity})
      on conflict (id) do update set epoch = excluded.epoch, identity = excluded.identity
      where store_epoch.identity <> excluded.identity`)
  )
  return (yield* known("query")) ?? epoch
})

/** The epoch of this store, twelve hexadecimal characters: given at the first call, and anew after a restore. */
export const current = Effect.gen(function* () {
  return (yield* known("read")) ?? (yield* give)
})

/** Gives the store another epoch: it was restored in a way that the store cannot tell. */
export const renew = Effect.gen(function* () {
  const { query } = yield* Database
  yield* query((db) => db.deleteFrom("store_epoch"))
  return yield* give
})
