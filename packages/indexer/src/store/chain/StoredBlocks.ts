/** Which blocks of a chain are stored. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

export interface StoredBlocks {
  /** The first height that was committed; undefined where none was. */
  readonly first: number | undefined
  /** The height of the cursor. */
  readonly last: number | undefined
  /** Time of the last block in seconds since the Unix epoch; undefined where undoing has left no block. */
  readonly time: number | undefined
}

export const of = Effect.fn("StoredBlocks.of")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("chain")
      .leftJoin("block", (join) =>
        join.onRef("block.chain", "=", "chain.id").onRef("block.height", "=", "chain.height")
      )
      .select(["chain.height", "chain.first_height", "block.time"])
      .where("chain.name", "=", Chain.nameOf(chain))
  )
  return {
    first: row?.first_height ?? undefined,
    last: row?.height ?? undefined,
    time: row?.time ?? undefined
  } satisfies StoredBlocks
})
