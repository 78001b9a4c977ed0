/** The row of a chain: its number in the store, its cursor, and the lock that orders commits with changes of what is watched. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "./Database.ts"
import { prepared } from "./Prepared.ts"
import type { Row } from "./Tables.ts"

export type ChainRow = Row<"chain">

const byName = prepared((db, name: string) => db.selectFrom("chain").selectAll().where("name", "=", name))

/** The row, or undefined where nothing of the chain has been stored. */
export const find = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read(byName(Chain.nameOf(chain)))
  return row
})

/** The row, as the present transaction sees the store. */
export const present = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { query } = yield* Database
  const [row] = yield* query(byName(Chain.nameOf(chain)))
  return row
})

/** The rows of all chains of which anything was stored. */
export const all = Effect.flatMap(Database, ({ read }) =>
  read((db) => db.selectFrom("chain").selectAll().orderBy("id"))
)

/** Makes the row where there is none, and gives the chain's number in the store. */
export const make = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .insertInto("chain")
      .values({ name: Chain.nameOf(chain) })
      .onConflict((on) => on.column("name").doNothing())
  )
  return (yield* present(chain))!.id
})

/** Locks the row until the transaction ends: commits and changes of what is watched exclude one another. */
export const lock = Effect.fnUntraced(function* (id: number) {
  const { forUpdate, query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("chain").selectAll().where("id", "=", id).modifyEnd(forUpdate))
  return row!
})

/** As {@link lock}, and counts the revision up: what is watched, or what is due when, has changed. */
export const lockAndBumpRevision = Effect.fnUntraced(function* (id: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.updateTable("chain").set({ revision: sql<number>`revision + 1` }).where("id", "=", id).returningAll()
  )
  return row!
})

/** As {@link lockAndBumpRevision}, of a chain of which nothing may have been stored yet. */
export const lockAndBumpRevisionOf = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const row = yield* present(chain)
  return yield* lockAndBumpRevision(row?.id ?? (yield* make(chain)))
})

const cursor = prepared((db, height: number, hash: Uint8Array | null, first: number | null, id: number) =>
  db.updateTable("chain").set({ height, hash, first_height: first }).where("id", "=", id)
)

/** Moves the cursor, in a transaction that has the lock. */
export const moveCursor = Effect.fnUntraced(function* (
  id: number,
  to: { readonly height: number; readonly hash: Uint8Array | null; readonly firstHeight: number | null }
) {
  const { defer } = yield* Database
  yield* defer(cursor(to.height, to.hash, to.firstHeight, id))
})
