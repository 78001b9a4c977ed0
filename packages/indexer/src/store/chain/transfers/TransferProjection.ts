/** What blocks change in the record of transfers. */
import type { Transfer } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as MissingParts from "../MissingParts.ts"
import type { Make } from "../Projection.ts"
import * as Compaction from "./Compaction.ts"
import * as TransferLog from "./TransferLog.ts"

export const make: Make = Effect.fnUntraced(function* ({ id, record, watched: { set } }) {
  const compaction = yield* Compaction.start(id)

  const isRecorded = ({ from, kind, to }: Transfer) =>
    record === "all" ||
    kind === "internal" ||
    (from !== undefined && set.has(from)) ||
    (to !== undefined && set.has(to))

  return {
    apply: {
      record: (block, { insert }) =>
        Effect.sync(() => {
          const { chunks, unsorted } = TransferLog.pack(id, block, isRecorded)
          insert("transfer_chunk", chunks)
          insert("staged_postings", unsorted)
          compaction.wrote(unsorted)
        })
    },
    undo: ({ fork }) => TransferLog.undo(id, fork),
    reprocess: {
      record: Effect.fnUntraced(function* (block, { internalFrom }) {
        const shown = internalFrom !== undefined && block.missing === undefined
        const entersInternal =
          (shown && block.height >= internalFrom) || (yield* MissingParts.fillsInternal(id, block, internalFrom))
        const which = (kind: TransferLog.Kind) => kind !== "internal" || entersInternal
        compaction.wrote(yield* TransferLog.rewrite(id, block, isRecorded, which))
      })
    }
  }
})
