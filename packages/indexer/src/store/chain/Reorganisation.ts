/** Where blocks leave the chain again: by a reorganisation, or by an operator's rewind. */
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { OpenChain, Projection } from "./Projection.ts"
import * as UtxoSet from "./UtxoSet.ts"

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
  const leave = Effect.fnUntraced(function* (fork: number, rewound: boolean, last?: Uint8Array) {
    const { defer, insertMany } = yield* Database
    const row = yield* ChainRow.lock(id)
    const { first_height: firstHeight, height, revision } = row
    if (height === null || height <= fork) return
    if (last !== undefined && (row.hash === null || !Bytes.equal(row.hash, last))) return
    // A process that has left the chain at the fork is to see that blocks came and went, although height and hash are the same.
    yield* ChainRow.lockAndBumpRevision(id)
    yield* ChainRow.rememberInternalFrom(id, fork + 1)
    const tip = row.hash ?? (yield* highestHash(id))
    // A rewind to below the first block has left no block: only where the chain begins again is lowered.
    if (tip === undefined) return yield* ChainRow.moveCursor(id, { height: fork, hash: null, firstHeight })
    const hash = (yield* BlockRow.present(id, fork))?.hash ?? null
    const at = yield* Clock.currentTimeMillis
    const losesCoins = !UtxoSet.remembersSpent(row, fork + 1)
    for (const { undo } of projections) yield* undo({ fork, tip, firstHeight, losesCoins, rewound, revision, at })
    yield* defer((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
    yield* insertMany("reorganisation", [{ chain: id, at, fork_height: fork, depth: height - fork, old_hash: tip }])
    yield* ChainRow.moveCursor(id, { height: fork, hash, firstHeight })
  })

  /** Leaves every block above `fork`, in one transaction, where `last` is the last block; whichever is, without that. */
  const undo = Effect.fn("ChainStore.undo")(function* (fork: number, last?: Uint8Array) {
    const { transaction } = yield* Database
    yield* transaction(leave(fork, false, last))
  })

  /** As `undo`, also below what was called final and below the first block. Who follows the chain begins anew. */
  const rewind = Effect.fn("ChainStore.rewind")(function* (height: number) {
    const { transaction } = yield* Database
    yield* transaction(
      Effect.gen(function* () {
        yield* leave(height, true)
        yield* ChainRow.lower(id, height)
        yield* ChainRow.beginEpoch(id)
      })
    )
  })

  return { undo, rewind }
}
