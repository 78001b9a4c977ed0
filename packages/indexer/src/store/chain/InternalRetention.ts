/**
 * Internal transactions are kept for 14 days (interface section 4.6). Older ones go in small steps between which the
 * chain is written to as ever; of what they moved, the sums stay in `PrunedInternal`.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as UnixTime from "../../UnixTime.ts"
import * as ChainRow from "../database/ChainRow.ts"
import type { ChainReader } from "./ChainReader.ts"
import * as PartitionUpkeep from "./PartitionUpkeep.ts"
import * as PrunedInternal from "./PrunedInternal.ts"
import type { RecordingMode } from "./RecordingMode.ts"
import * as TransferLog from "./transfers/TransferLog.ts"

/** 14 days. */
export const keptSeconds = 1_209_600

export interface Options {
  readonly record: RecordingMode
  /** Blocks that a reorganisation may undo: they are never forgotten, however old they say they are. */
  readonly undoDepth: number
}

/** The height below which internal transactions are, or are about to be, forgotten; 0 where none are. */
export const horizon = Effect.fn("InternalRetention.horizon")(function* (
  reader: ChainReader,
  options: Pick<Options, "undoDepth">
) {
  const chain = yield* ChainRow.find(reader.chain)
  if (chain === undefined || chain.height === null) return 0
  const now = yield* UnixTime.seconds
  const old = Math.min(yield* reader.heightSince(now - keptSeconds), chain.height - options.undoDepth)
  return Math.max(chain.internal_forgotten_below, old)
})

/** Forgets what is too old by now. */
export const prune = Effect.fn("InternalRetention.prune")(function* (reader: ChainReader, options: Options) {
  const chain = yield* ChainRow.find(reader.chain)
  if (chain === undefined) return
  yield* TransferLog.forgetInternal(chain.id, yield* horizon(reader, options), (transfers) =>
    PrunedInternal.add(chain.id, options.record, transfers)
  )
})

/** Prunes once a minute as long as the scope is open. A failure is logged and tried again. */
export const run = (reader: ChainReader, options: Options) =>
  prune(reader, options).pipe(
    Effect.andThen(PartitionUpkeep.keep(reader)),
    Effect.catchTag("DatabaseError", (error) =>
      Effect.logWarning(`Forgetting old internal transactions failed: ${error.message}`)
    ),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped
  )
