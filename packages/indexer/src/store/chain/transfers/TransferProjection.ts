/** What blocks change in the record of transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as EnteredKinds from "../EnteredKinds.ts"
import * as CoinTotals from "../CoinTotals.ts"
import type { Make } from "../Projection.ts"
import * as Compaction from "./Compaction.ts"
import * as TransferLog from "./TransferLog.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, record, watched: { set } }) {
  const compaction = yield* Compaction.start(id)

  const isWatched = (address: AddressBytes | undefined) => address !== undefined && set.has(address)
  const hasOutputs = chain.ledger === "outputs"
  // Every input and output of a UTXO chain would be many times what the UTXO set of the chain takes.
  const isRecorded = (transfer: TransferLog.Entry) =>
    (record === "all" && !hasOutputs) ||
    transfer.kind === "internal" ||
    isWatched(transfer.from) ||
    isWatched(transfer.to) ||
    (transfer.kind === "coin" && (isWatched(transfer.taggedFrom) || isWatched(transfer.taggedTo)))

  return {
    apply: {
      record: (block, { insert }) =>
        Effect.map(
          TimeSlice.runInTransaction(() => TransferLog.pack(id, block, isRecorded)),
          ({ chunks, unsorted }) => {
            insert("packed_transfers", chunks)
            insert("staged_postings", unsorted)
            compaction.wrote(unsorted)
          }
        )
    },
    undo: ({ fork }) =>
      hasOutputs
        ? TransferLog.undo(id, fork)
        : Effect.andThen(TransferLog.undo(id, fork), CoinTotals.forget(id, fork + 1)),
    // Of an old block nobody remembers what the inputs spent: what was recorded of them stays.
    reprocess: hasOutputs
      ? {}
      : {
          record: Effect.fnUntraced(function* (block, again) {
            const kinds = yield* EnteredKinds.of(chain, block, again)
            const { rewritten, unsorted } = yield* TransferLog.rewrite(id, block, isRecorded, (kind) => kinds.has(kind))
            if (rewritten.includes("coin")) yield* CoinTotals.forget(id, block.height)
            compaction.wrote(unsorted)
          })
        }
  }
})
