/**
 * Blocks that an operator has given up, since none of the chain's nodes had them any more: a row for each range of
 * heights. Nothing of these blocks is recorded, and nothing that rests on them is called complete. A rewind to below a
 * range takes the range back, so that its blocks are read if a node has them.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import * as BlockRange from "./BlockRange.ts"

/** Blocks in a row, and when they were given up. */
export interface SkippedBlocks extends BlockRange.BlockRange {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** What of a chain was skipped, lowest first. */
export const of = Effect.fn("SkippedBlocks.of")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("skipped_blocks as s")
      .innerJoin("chain", "chain.id", "s.chain")
      .select(["s.from_height", "s.to_height", "s.at"])
      .where("chain.name", "=", Chain.nameOf(chain))
      .orderBy("s.from_height")
  )
  return rows.map(({ at, from_height: from, to_height: to }): SkippedBlocks => ({ from, to, at }))
})

/** The last skipped block from `height` on, in a transaction; undefined where there is none. */
export const lastFrom = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("skipped_blocks")
      .select(({ fn }) => fn.max("to_height").as("last"))
      .where("chain", "=", chain)
      .where("to_height", ">=", height)
  )
  return row?.last ?? undefined
})

/** Whether the block at a height was skipped, in a transaction. */
export const has = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .selectFrom("skipped_blocks")
      .select("from_height")
      .where("chain", "=", chain)
      .where("from_height", "<=", height)
      .where("to_height", ">=", height)
      .limit(1)
  )
  return rows.length > 0
})

/** Notes a range, in the transaction that moves the cursor beyond the range. */
export const add = Effect.fnUntraced(function* (chain: number, { at, from, to }: SkippedBlocks) {
  const { insertMany } = yield* Database
  yield* insertMany("skipped_blocks", [{ chain, from_height: from, to_height: to, at }])
})

/** Takes back what was skipped above `fork`. */
export const undo = (chain: number, fork: number) => BlockRange.endAt("skipped_blocks", chain, fork)

/** What was skipped and the remedy, for the operator. */
export const describe = (chain: Chain.Chain, skipped: SkippedBlocks): string =>
  `${BlockRange.describe(skipped)} ${skipped.from === skipped.to ? "was" : "were"} skipped: nothing of them is recorded, and no callback was sent for them. Once a node has them: ` +
  `headwater rewind ${Chain.nameOf(chain)} ${skipped.from - 1}`
