/** What blocks change in the record of transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Transfer } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as MissingParts from "../MissingParts.ts"
import type { Make } from "../Projection.ts"
import * as Compaction from "./Compaction.ts"
import * as TransferLog from "./TransferLog.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, record, watched: { set } }) {
  const compaction = yield* Compaction.start(id)

  const isWatched = (address: AddressBytes | undefined) => address !== undefined && set.has(address)
  const isRecorded = (transfer: Transfer) =>
    record === "all" ||
    transfer.kind === "internal" ||
    isWatched(transfer.from) ||
    isWatched(transfer.to) ||
    (transfer.kind === "coin" && (isWatched(transfer.taggedFrom) || isWatched(transfer.taggedTo)))

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
        // Coins that a trace had shown stay where the source shows none at this time.
        const entersCoins = chain.evm?.retryables !== true || shown
        const which = (kind: TransferLog.Kind) =>
          kind === "internal" ? entersInternal : kind === "coin" ? entersCoins : true
        compaction.wrote(yield* TransferLog.rewrite(id, block, isRecorded, which))
      })
    }
  }
})
