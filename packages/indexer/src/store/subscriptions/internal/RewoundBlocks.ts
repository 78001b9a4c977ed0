/**
 * Blocks that an operator has rewound. Mostly they come again as they were, and what they told is as true as before:
 * their callbacks are retracted where another block comes at the height.
 */
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import type { UndoStep } from "../../chain/Projection.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Tables } from "../../database/Tables.ts"
import * as Retractions from "../Retractions.ts"
import * as RevertedBlocks from "../RevertedBlocks.ts"

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
  yield* Retractions.withdraw(chain, fork)
})

/** Before a block is committed: where it is another one and very much was told of those, takes most of that back in steps. */
export const reachMuch = Effect.fnUntraced(function* (chain: number, block: BlockHeader) {
  const { hash, height } = block
  const { query, transaction } = yield* Database
  const before = Effect.map(
    query((db) =>
      db.selectFrom("rewound_block").select("hash").where("chain", "=", chain).where("height", "=", height)
    ),
    ([row]) => row?.hash
  )
  const tip = yield* before
  if (tip === undefined || Bytes.equal(tip, hash) || !(yield* Retractions.areMany(chain, height - 1))) return
  const step: UndoStep = (self) =>
    transaction(
      Effect.gen(function* () {
        const row = yield* ChainRow.lock(chain)
        // A block that the commit refuses takes nothing back. Another process may have committed one at the height.
        const isNext = row.height !== null && ChainRow.follows(row, block)
        return isNext && (yield* before) !== undefined ? yield* self : false
      })
    )
  yield* Retractions.takeBackMany({ chain, fork: height - 1, tip }, step)
})

/** In the transaction that undoes the blocks above `fork`, rewound or not. */
export const undo = (chain: number, fork: number) => forget(chain, ">", fork)

/** In the transaction that commits a block: retracts what others told at its height and above. Whether any are left. */
export const reach = Effect.fnUntraced(function* (
  chain: Chain,
  id: number,
  { hash, height }: Pick<BlockHeader, "hash" | "height">,
  now: number
) {
  const { query } = yield* Database
  const stored = (db: Kysely<Tables>) =>
    db.selectFrom("rewound_block").select(["height", "hash", "time"]).where("chain", "=", id)
  const left = yield* query((db) => stored(db).orderBy("height").limit(2))
  const before = left.find((block) => block.height === height)
  if (before !== undefined && !Bytes.equal(before.hash, hash)) {
    const others = yield* query((db) => stored(db).where("height", ">=", height).orderBy("height", "desc"))
    yield* RevertedBlocks.tell(chain, id, others, now)
    yield* Retractions.takeBack(id, height - 1, before.hash, now)
    yield* undo(id, height)
  }
  if (left.length > 0) yield* forget(id, "<=", height)
  return left.length > 0
})
