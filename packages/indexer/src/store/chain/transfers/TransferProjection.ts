/** What blocks change in the record of transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as CoinTotals from "../CoinTotals.ts"
import * as EnteredKinds from "../EnteredKinds.ts"
import type { Make } from "../Projection.ts"
import * as PrunedInternal from "../PrunedInternal.ts"
import * as Compaction from "./Compaction.ts"
import * as InternalPartitions from "./InternalPartitions.ts"
import * as TransferLog from "./TransferLog.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, record, watched: { set } }) {
  const compaction = yield* Compaction.start(id)

  const hasOutputs = chain.ledger === "outputs"
  const isPartitioned = hasOutputs ? () => Effect.succeed(false) : InternalPartitions.watch(id)
  const isWatched = (address: AddressBytes | undefined) => address !== undefined && set.has(address)
  // Every input and output of a UTXO chain would be many times what the UTXO set of the chain takes.
  const isRecorded = (transfer: TransferLog.Entry) =>
    (record === "all" && !hasOutputs) ||
    transfer.kind === "internal" ||
    isWatched(transfer.from) ||
    isWatched(transfer.to) ||
    (transfer.kind === "coin" && (isWatched(transfer.taggedFrom) || isWatched(transfer.taggedTo)))

  return {
    apply: {
      record: Effect.fnUntraced(function* (block, { insert }) {
        const table = (yield* isPartitioned(block.height)) ? "packed_internal" : "packed_transfers"
        const rows = yield* TimeSlice.runInTransaction(() => TransferLog.pack(id, block, isRecorded, table))
        insert("packed_transfers", rows.packed_transfers)
        insert("packed_internal", rows.packed_internal)
        insert("staged_postings", rows.staged_postings)
        compaction.wrote(rows.staged_postings)
      })
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
            const isForgotten = block.height < again.row.internal_forgotten_below
            const { rewritten, unsorted } = yield* TransferLog.rewrite(
              ...([id, block, isRecorded] as const),
              (kind) => kinds.has(kind) && !(kind === "internal" && isForgotten)
            )
            if (isForgotten && kinds.has("internal")) {
              const forgotten = block.transfers.filter((transfer) => transfer.kind === "internal")
              yield* PrunedInternal.add(id, record, forgotten)
            }
            if (rewritten.includes("coin")) yield* CoinTotals.forget(id, block.height)
            compaction.wrote(unsorted)
          })
        }
  }
})
