/**
 * Blocks that an operator has rewound. Mostly they come again as they were, and what they told is as true as before:
 * their callbacks are retracted where another block comes at the height.
 */
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"

const forget = Effect.fnUntraced(function* (chain: number, which: "<=" | ">", height: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("rewound_block").where("chain", "=", chain).where("height", which, height))
})

/** In the transaction that rewinds a chain to `fork`, before its blocks are gone. */
export const remember = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  yield* query(
    rows(sql`
      insert into rewound_block (chain, height, hash, time)
      select chain, height, hash, time from block where chain = ${chain} and height > ${fork}`)
  )
})

/** In the transaction that undoes the blocks above `fork`, rewound or not. */
export const undo = (chain: number, fork: number) => forget(chain, ">", fork)

/** In the transaction that commits a block: those at its height and above, the newest first, where another was at its height. */
export const replaced = Effect.fnUntraced(function* (
  chain: number,
  { hash, height }: Pick<BlockHeader, "hash" | "height">
) {
  const { query } = yield* Database
  const [before] = yield* query((db) =>
    db.selectFrom("rewound_block").select("hash").where("chain", "=", chain).where("height", "=", height)
  )
  if (before === undefined || Bytes.equal(before.hash, hash)) return []
  return yield* query((db) =>
    db
      .selectFrom("rewound_block")
      .select(["height", "hash", "time"])
      .where("chain", "=", chain)
      .where("height", ">=", height)
      .orderBy("height", "desc")
  )
})

/** In the transaction that commits a block, behind what became of those of its height and above. Whether any are left. */
export const reach = Effect.fnUntraced(function* (chain: number, height: number, isReplaced: boolean) {
  const { query } = yield* Database
  if (isReplaced) yield* undo(chain, height)
  yield* forget(chain, "<=", height)
  const left = yield* query((db) => db.selectFrom("rewound_block").select("height").where("chain", "=", chain).limit(1))
  return left.length > 0
})
