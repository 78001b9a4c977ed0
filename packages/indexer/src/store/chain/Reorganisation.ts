/** Where blocks leave the chain again: by a reorganisation, or by an operator's rewind. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { OpenChain, Projection } from "./Projection.ts"
import * as UtxoSet from "./UtxoSet.ts"

const hashAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("block").select("hash").where("chain", "=", chain).where("height", "=", height)
  )
  return row?.hash ?? null
})

/** Undoes blocks of an open chain: each projection takes back its part, then headers and cursor follow. */
export const make = ({ id }: OpenChain, projections: ReadonlyArray<Projection>) => {
  const leave = Effect.fnUntraced(function* (fork: number) {
    const { defer, insertMany } = yield* Database
    const row = yield* ChainRow.lock(id)
    const { first_height: firstHeight, hash: tip, height } = row
    if (height === null || height <= fork) return
    // A rewind to below the first block has left no block: only where the chain begins again is lowered.
    if (tip === null) return yield* ChainRow.moveCursor(id, { height: fork, hash: null, firstHeight })
    const hash = yield* hashAt(id, fork)
    const at = yield* Clock.currentTimeMillis
    const losesCoins = !UtxoSet.remembersSpent(row, fork + 1)
    for (const { undo } of projections) yield* undo({ fork, tip, firstHeight, losesCoins, at })
    yield* defer((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
    yield* insertMany("reorganisation", [{ chain: id, at, fork_height: fork, depth: height - fork, old_hash: tip }])
    yield* ChainRow.moveCursor(id, { height: fork, hash, firstHeight })
  })

  /** Leaves every block above `fork`, in one transaction. */
  const undo = Effect.fn("ChainStore.undo")(function* (fork: number) {
    const { transaction } = yield* Database
    yield* transaction(leave(fork))
  })

  /** As `undo`, also below what was called final and below the first block. */
  const rewind = Effect.fn("ChainStore.rewind")(function* (height: number) {
    const { transaction } = yield* Database
    yield* transaction(Effect.andThen(undo(height), ChainRow.lower(id, height)))
  })

  return { undo, rewind }
}
