/** The header of a block as a chain has it at a height; undefined where the store has none there. */
import * as Effect from "effect/Effect"
import { Database } from "./Database.ts"
import { prepared } from "./Prepared.ts"

const at = prepared((db, chain: number, height: number) =>
  db
    .selectFrom("block")
    .select(["height", "hash", "parent", "time"])
    .where("chain", "=", chain)
    .where("height", "=", height)
)

export const find = Effect.fnUntraced(function* (chain: number, height: number) {
  const { read } = yield* Database
  const [row] = yield* read(at(chain, height))
  return row
})

/** As the present transaction sees the store. */
export const present = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [row] = yield* query(at(chain, height))
  return row
})
