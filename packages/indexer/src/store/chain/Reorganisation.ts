/** Where blocks leave the chain again: by a reorganisation, or by an operator's rewind. */
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { OpenChain, Projection, UndoStep } from "./Projection.ts"
import * as UtxoSet from "./UtxoSet.ts"

const hashAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("block").select("hash").where("chain", "=", chain).where("height", "=", height)
  )
  return row?.hash ?? null
})

/** Hash of the highest block that is stored: below the cursor where blocks were skipped. */
const highestHash = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("block").select("hash").where("chain", "=", chain).orderBy("height", "desc").limit(1)
  )
  return row?.hash
})

/** Undoes blocks of an open chain: each projection takes back its part, then headers and cursor follow. */
export const make = ({ id }: OpenChain, projections: ReadonlyArray<Projection>) => {
  const leave = Effect.fnUntraced(function* (fork: number, rewound: boolean) {
    const { defer, insertMany } = yield* Database
    const row = yield* ChainRow.lock(id)
    const { first_height: firstHeight, height } = row
    if (height === null || height <= fork) return
    const tip = row.hash ?? (yield* highestHash(id))
    // A rewind to below the first block has left no block: only where the chain begins again is lowered.
    if (tip === undefined) return yield* ChainRow.moveCursor(id, { height: fork, hash: null, firstHeight })
    const hash = yield* hashAt(id, fork)
    const at = yield* Clock.currentTimeMillis
    const losesCoins = !UtxoSet.remembersSpent(row, fork + 1)
    for (const { undo } of projections) yield* undo({ fork, tip, firstHeight, losesCoins, rewound, at })
    yield* defer((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
    yield* insertMany("reorganisation", [{ chain: id, at, fork_height: fork, depth: height - fork, old_hash: tip }])
    yield* ChainRow.moveCursor(id, { height: fork, hash, firstHeight })
    if (row.undo_to !== null && row.undo_to >= fork) yield* ChainRow.setUndoTo(id, null)
  })

  /** Steps before the blocks above `fork` leave, up to `tip`; none where they have left. */
  const stepOf =
    (fork: number, tip: Uint8Array): UndoStep =>
    (self) =>
      Effect.flatMap(Database, ({ transaction }) =>
        transaction(
          Effect.gen(function* () {
            const { hash, height, undo_to } = yield* ChainRow.lock(id)
            if (height === null || height <= fork || hash === null || !Bytes.equal(hash, tip)) return false
            if (undo_to === null || undo_to > fork) yield* ChainRow.setUndoTo(id, fork)
            return yield* self
          })
        )
      )

  /** Leaves every block above `fork`, in one transaction, and before it in steps what is very much. */
  const undo = Effect.fn("ChainStore.undo")(function* (fork: number) {
    const { query, transaction } = yield* Database
    const [row] = yield* query((db) => db.selectFrom("chain").select("hash").where("id", "=", id))
    const tip = row?.hash
    if (tip != null) {
      for (const { undoMuch } of projections) if (undoMuch) yield* undoMuch({ fork, tip }, stepOf(fork, tip))
    }
    yield* transaction(leave(fork, false))
  })

  /** The chain's row, behind the end of what a process that was killed has begun to undo. */
  const wholeRow = Effect.fnUntraced(function* (row: ChainRow.ChainRow) {
    if (row.undo_to === null) return row
    yield* undo(row.undo_to)
    return yield* Effect.flatMap(Database, ({ query }) =>
      Effect.map(
        query((db) => db.selectFrom("chain").selectAll().where("id", "=", id)),
        ([row]) => row!
      )
    )
  })

  /** As `undo`, also below what was called final and below the first block. */
  const rewind = Effect.fn("ChainStore.rewind")(function* (height: number) {
    const { transaction } = yield* Database
    yield* transaction(Effect.andThen(leave(height, true), ChainRow.lower(id, height)))
  })

  return { undo, rewind, wholeRow }
}
