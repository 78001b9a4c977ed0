/**
 * What addresses of extended public keys had in blocks that their subscription was not matched against: it moves windows,
 * and is not told, since the feed names these blocks as missed.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"

/**
 * Has steps look at what the addresses behind the furthest used one of each branch had in a gap which ends at the chain's
 * present block, and says that nothing is whole before its end; in the transaction that enters the gap. An address that is
 * used already moves no window. Where not every address was recorded, what moved the window in the gap stays unknown.
 */
export const lookOver = Effect.fnUntraced(function* (
  { all_from, height }: Pick<ChainRow.ChainRow, "all_from" | "height">,
  { from_height, gap_from, id }: Pick<Row<"subscription">, "from_height" | "gap_from" | "id">
) {
  const { query } = yield* Database
  const from = gap_from ?? (from_height ?? -1) + 1
  if (height === null || height < from) return
  yield* query(
    rows(sql`
      insert into missed_blocks (chain, subscription, from_height, to_height)
      select chain, subscription, ${sql.lit(from)}, ${sql.lit(height)} from extended_key where subscription = ${id}`)
  )
  const past =
    all_from === null
      ? {}
      : {
          past_from: sql<number>`case when past_from < ${from} then past_from else ${sql.lit(from)} end`,
          past_to: height
        }
  yield* query((db) =>
    db
      .updateTable("listed_address")
      .set({ from_height: height, ...past })
      .where("subscription", "=", id)
      .where("left_revision", "is", null)
      .where(
        sql<boolean>`address_index >= (
          select used from extended_key_branch b
          where b.subscription = listed_address.subscription and b.branch = listed_address.branch)`
      )
  )
})

/** Whether a block is one of those that a subscription has missed. */
export const isMissed = Effect.fnUntraced(function* (subscription: number) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db.selectFrom("missed_blocks").select(["from_height", "to_height"]).where("subscription", "=", subscription)
  )
  return (height: number) => found.some(({ from_height, to_height }) => from_height <= height && height <= to_height)
})

/** In the transaction that undoes the blocks above `fork`: nobody has missed what comes in their place. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("missed_blocks").where("chain", "=", chain).where("from_height", ">", fork))
  yield* defer((db) =>
    db.updateTable("missed_blocks").set({ to_height: fork }).where("chain", "=", chain).where("to_height", ">", fork)
  )
})
