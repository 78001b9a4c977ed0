/** Which blocks of a chain are stored. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

export interface StoredBlocks {
  /** The first height that was committed; undefined where none was. */
  readonly first: number | undefined
  /** The height of the cursor. */
  readonly last: number | undefined
  /** Hash of the last block; undefined where undoing has left no block. */
  readonly hash: Uint8Array | undefined
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
      .select(["chain.height", "chain.first_height", "block.hash", "block.time"])
      .where("chain.name", "=", Chain.nameOf(chain))
  )
  return {
    first: row?.first_height ?? undefined,
    last: row?.height ?? undefined,
    hash: row?.hash ?? undefined,
    time: row?.time ?? undefined
  } satisfies StoredBlocks
})

/** A block of a chain by its place and its name. */
export interface BlockId {
  readonly height: number
  readonly hash: Uint8Array
}

/** Where following goes on, and how far it may go back. */
export interface Position {
  /** The cursor, below which every block is recorded. */
  readonly height: number
  /** The block at the cursor; undefined where undoing has left none. */
  readonly cursor: BlockId | undefined
  /** The lowest block that a reorganisation may leave in place; undefined where it is not stored, as where all may be undone. */
  readonly lowest: BlockId | undefined
  /** The first block that was committed; undefined where it is not stored. */
  readonly first: BlockId | undefined
}

/** The position of a chain, of which `undoDepth` blocks may be undone; undefined where no block was committed. */
export const position = Effect.fn("StoredBlocks.position")(function* (chain: Chain.Chain, undoDepth: number) {
  const { read } = yield* Database
  const name = Chain.nameOf(chain)
  const [row] = yield* read((db) => db.selectFrom("chain").selectAll().where("name", "=", name))
  if (row === undefined || row.height === null) return undefined
  const { final_height, height, id } = row
  const first = row.first_height ?? 0
  const lowest = Math.max(height - undoDepth, final_height ?? -1, first - 1)
  const blocks = yield* read((db) =>
    db
      .selectFrom("block")
      .select(["height", "hash"])
      .where("chain", "=", id)
      .where("height", "in", [height, lowest, first])
  )
  const at = (wanted: number) => blocks.find((block) => block.height === wanted)
  return { height, cursor: at(height), lowest: at(lowest), first: at(first) } satisfies Position
})
