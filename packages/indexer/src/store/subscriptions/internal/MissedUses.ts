/**
 * What addresses of extended public keys had in blocks that their subscription was not matched against: it moves windows,
 * and is not told, since the feed names these blocks as missed.
 */
import { gapEvent, itemOf } from "@headwater/core/events/Callback"
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

/** Whether a subscription's feed names a block as missed, as far as its entries are kept. */
export const isMissed = Effect.fnUntraced(function* (chain: number, subscription: number) {
  const { query } = yield* Database
  // Such entries are of no block, which the index of callbacks by block knows.
  const found = yield* query(
    rows(sql<Pick<Row<"callback">, "body">>`
      select body from callback
      where chain = ${chain} and height is null and event = ${gapEvent} and subscription + 0 = ${subscription}
        and account = (select account from subscription where id = ${subscription})`)
  )
  const gaps = found.map(({ body }) => itemOf(body) as { readonly fromHeight: number; readonly toHeight: number })
  return (height: number) => gaps.some(({ fromHeight, toHeight }) => fromHeight <= height && height <= toHeight)
})
