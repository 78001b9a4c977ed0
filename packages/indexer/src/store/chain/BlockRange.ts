/** Blocks in a row: how they are called in messages, and where they end as blocks are undone. */
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

export interface BlockRange {
  /** The first and the last height. */
  readonly from: number
  readonly to: number
}

/** `7`, or `7 to 9`. */
export const heights = ({ from, to }: BlockRange): string => (from === to ? `${from}` : `${from} to ${to}`)

/** `block 7`, or `blocks 7 to 9`. */
export const describe = (range: BlockRange): string =>
  `${range.from === range.to ? "block" : "blocks"} ${heights(range)}`

/** How many blocks there are. */
export const count = ({ from, to }: BlockRange): number => to - from + 1

/** Ends a table's ranges at `fork`, in the transaction that undoes the blocks above. */
export const endAt = Effect.fnUntraced(function* (
  table: "missing_parts" | "skipped_blocks",
  chain: number,
  fork: number
) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom(table).where("chain", "=", chain).where("from_height", ">", fork))
  yield* defer((db) =>
    db.updateTable(table).set({ to_height: fork }).where("chain", "=", chain).where("to_height", ">", fork)
  )
})
