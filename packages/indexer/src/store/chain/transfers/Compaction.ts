/** Sorts the postings of new blocks into runs, and merges runs: in small steps, beside the commits. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Row } from "../../database/Tables.ts"
import { kinds, logOf } from "./internal/Logs.ts"
import * as Posting from "./internal/Posting.ts"
import * as PostingMerge from "./internal/PostingMerge.ts"

/** Unsorted postings of one log that make it worth a run. */
export const unsortedLimit = 65_536

/** Makes runs of what is unsorted where that is much, and merges runs; returns when there is nothing more to do. */
export const compact = Effect.fn("Compaction.compact")(function* (chain: number, limit = unsortedLimit) {
  for (const kind of kinds) {
    const log = logOf(chain, kind)
    yield* PostingMerge.sort(log, limit)
    yield* PostingMerge.merge(log)
  }
})

export interface Compaction {
  /** Takes note of postings that have been written. */
  readonly wrote: (unsorted: ReadonlyArray<Row<"staged_postings">>) => void
}

/** Compacts the logs of a chain until the scope closes: at first, and whenever enough postings have been written. */
export const start = Effect.fnUntraced(function* (chain: number) {
  let unsorted = 0
  const much = yield* Latch.make(true)
  yield* much.await.pipe(
    Effect.andThen(
      Effect.suspend(() => {
        unsorted = 0
        much.closeUnsafe()
        return compact(chain)
      })
    ),
    Effect.catchTag("DatabaseError", (error) =>
      Effect.logWarning(`Compacting the transfer log failed: ${error.message}`)
    ),
    Effect.andThen(Effect.sleep("200 millis")),
    Effect.forever,
    Effect.forkScoped
  )
  return {
    wrote: (rows) => {
      for (const { data } of rows) unsorted += data.length / Posting.width
      if (unsorted >= unsortedLimit) much.openUnsafe()
    }
  } satisfies Compaction as Compaction
})
