/** Makes runs of a log's unsorted postings, and larger runs of runs. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Database } from "../../../database/Database.ts"
import * as Posting from "./Posting.ts"
import * as PostingRuns from "./PostingRuns.ts"
import { RunCursor, takeLeast } from "./RunCursor.ts"

/** Runs of one level that are merged into one of the next. */
const fanOut = 8
/** How long a reader may still use a retired run, and a merge needs at most for one step, in milliseconds. */
const retiredMillis = 60_000

/** How many unsorted postings a log has. */
const unsortedOf = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  const [unsorted] = yield* read((db) =>
    db
      .selectFrom("staged_postings")
      .select(({ fn }) => fn.sum<number | null>(fn("length", ["data"])).as("bytes"))
      .where("log", "=", log)
  )
  return (unsorted?.bytes ?? 0) / Posting.width
})

/** Makes a run of all unsorted postings, where they are at least `limit`. */
export const sort = Effect.fnUntraced(function* (log: number, limit: number) {
  const { query, transaction } = yield* Database
  if ((yield* unsortedOf(log)) < limit) return
  yield* transaction(
    Effect.gen(function* () {
      // The run is made of what was deleted: rows that another process writes meanwhile stay for the next run.
      const rows = yield* query((db) =>
        db.deleteFrom("staged_postings").where("log", "=", log).returning(["height", "data"])
      )
      if (rows.length === 0) return
      const unsorted = rows.toSorted((a, b) => a.height - b.height).map(({ data }) => Posting.asBuffer(data))
      const [first, last] = [unsorted[0]!, unsorted.at(-1)!]
      const sorted = Posting.sort(Posting.toWords(unsorted))
      const run = yield* PostingRuns.insert({
        ...{ log, level: 0, postings: sorted.length / Posting.words, state: "live" },
        first_position: Posting.readPosition(first, 0),
        last_position: Posting.readPosition(last, last.length - Posting.width)
      })
      yield* PostingRuns.append(run, sorted)
    })
  )
})

/** Removes what a crash left half built, and what has been retired long enough. */
const sweep = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  const before = (yield* Clock.currentTimeMillis) - retiredMillis
  yield* PostingRuns.retireUnfinished(log, before)
  const runs = yield* read((db) =>
    db
      .selectFrom("posting_run")
      .select(["id", "paged"])
      .where("log", "=", log)
      .where("state", "=", "retired")
      .where("changed", "<", before)
  )
  for (const run of runs) yield* PostingRuns.remove(run)
})

/** The runs of the first level that has enough of them. */
const fullLevel = (runs: ReadonlyArray<PostingRuns.Run>) =>
  runs.map(({ level }) => runs.filter((run) => run.level === level)).find((ofLevel) => ofLevel.length >= fanOut)

const mergeRuns = Effect.fnUntraced(function* (log: number, parts: ReadonlyArray<PostingRuns.Run>) {
  const run = yield* PostingRuns.insert({
    ...{ log, level: parts[0]!.level + 1, state: "building" },
    postings: parts.reduce((sum, { postings }) => sum + postings, 0),
    first_position: Math.min(...parts.map((part) => part.first_position)),
    last_position: Math.max(...parts.map((part) => part.last_position))
  })
  const cursors = parts.map((part) => new RunCursor(part))
  const merged = new Uint32Array(PostingRuns.postingsPerStep * Posting.words)
  while (true) {
    const length = yield* takeLeast(cursors, merged)
    yield* PostingRuns.append(run, merged.subarray(0, length))
    yield* PostingRuns.keep(run)
    if (length < merged.length) break
  }
  yield* Effect.catchTag(PostingRuns.replace(parts, run), "Superseded", () => PostingRuns.remove({ id: run, paged: 1 }))
})

/**
 * Merges runs of one level into one of the next, as long as a level is full. Another process may be at the same: who is
 * done later leaves everything as it is.
 */
export const merge = Effect.fnUntraced(function* (log: number) {
  yield* sweep(log)
  while (true) {
    const parts = fullLevel(yield* PostingRuns.live(log))
    if (parts === undefined) return
    yield* mergeRuns(log, parts)
  }
})
