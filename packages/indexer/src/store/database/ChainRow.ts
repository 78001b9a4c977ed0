/** The lock of a chain's row, by which changes of what is watched and commits of blocks have one order. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Database } from "./Database.ts"

/** Locks the row of a chain, makes it where nothing has been stored of the chain yet, and counts its revision up. */
export const bump = Effect.fnUntraced(function* (database: Database["Service"], name: string) {
  const update = database.query((db) =>
    db
      .updateTable("chain")
      .set({ revision: sql<number>`revision + 1` })
      .where("name", "=", name)
      .returning(["id", "revision", "height"])
  )
  const [row] = yield* update
  if (row !== undefined) return row
  yield* database.query((db) =>
    db
      .insertInto("chain")
      .values({ name })
      .onConflict((on) => on.column("name").doNothing())
  )
  return (yield* update)[0]!
})
