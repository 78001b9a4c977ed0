/** The chunks of the transfer log, whatever table has them. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"

const tables = ["packed_transfers", "packed_internal"] as const

/** All chunks, in the order of their places. */
export const all = Effect.gen(function* () {
  const { read } = yield* Database
  const found = yield* Effect.forEach(tables, (table) => read((db) => db.selectFrom(table).selectAll()))
  return found.flat().sort((a, b) => a.log - b.log || a.position - b.position)
})

/** Loses the chunks at positions from one on below another. */
export const lose = Effect.fnUntraced(function* (from: number, below: number) {
  const { query } = yield* Database
  for (const table of tables) {
    yield* query((db) => db.deleteFrom(table).where("position", ">=", from).where("position", "<", below))
  }
})
