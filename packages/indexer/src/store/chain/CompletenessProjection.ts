/**
 * What blocks change in the completeness of the record: where that of addresses begins, from where on all addresses and
 * all internal transactions are recorded, and which blocks leave it again.
 */
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import * as Completeness from "./Completeness.ts"
import type { Make } from "./Projection.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, record }) {
  const row = yield* ChainRow.find(chain)
  let isFirst = row?.height == null
  /** Whether the chain's row says from which block on every address is recorded, as the recording mode has it. */
  let isMarked = false
  /** The same of internal transactions, as blocks bring them. */
  let isTraced = row?.internal_from != null

  return {
    apply: {
      record: Effect.fnUntraced(function* ({ height, untraced }, { afterwards, continues }) {
        if (!continues) {
          // Another process may have committed, in another recording mode.
          const { all_from, internal_from } = yield* ChainRow.lock(id)
          isMarked = (record === "all") === (all_from !== null)
          isTraced = internal_from !== null
        }
        if (isTraced !== (untraced === undefined)) {
          yield* Completeness.setInternalFrom(id, untraced === undefined ? height : null)
          isTraced = untraced === undefined
        }
        if (isFirst) yield* Completeness.beginAt(id, height)
        if (!isMarked) yield* record === "all" ? Completeness.recordsAll(id, height) : Completeness.recordsWatched(id)
        isMarked = true
        if (isFirst) {
          afterwards(
            Effect.sync(() => {
              isFirst = false
            })
          )
        }
      })
    },
    undo: (undone) => Completeness.undo(chain, id, undone),
    skip: ({ to }) => Completeness.skip(id, to),
    reprocess: {}
  }
})
