/**
 * Sorted postings of a log on disk: runs of pages. A run never changes; a merge writes a larger one and then retires the
 * parts, whose pages stay for readers that already know of them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database } from "../../../database/Database.ts"
import type { Row } from "../../../database/Tables.ts"
import * as Posting from "./Posting.ts"
import * as PostingPage from "./PostingPage.ts"

export type Run = Row<"posting_run">

/** Pages read or removed in one step. */
const pagesPerStep = 128
/** Postings that are written in one step. */
export const postingsPerStep = 32_768

/** Where pages are; those of runs of before are in the second table. */
export const tables = ["sorted_postings", "posting_page"] as const

/** The table that has a run's pages. */
export const tableOf = ({ paged }: Pick<Run, "paged">) => (paged === 1 ? tables[0] : tables[1])

/** Makes a run without pages. */
export const insert = Effect.fnUntraced(function* (run: Omit<Run, "id" | "changed" | "paged">) {
  const { query } = yield* Database
  const changed = yield* Clock.currentTimeMillis
  const [row] = yield* query((db) =>
    db
      .insertInto("posting_run")
      .values({ ...run, changed, paged: 1 })
      .returning("id")
  )
  return row!.id
})

/** Adds sorted postings, cut into pages, to a run; the key of a page is its first posting. */
export const append = Effect.fnUntraced(function* (run: number, sorted: Uint32Array) {
  const { insertMany } = yield* Database
  const pages: Array<Row<"sorted_postings">> = []
  for (let at = 0; at < sorted.length; ) {
    const { data, end } = PostingPage.pack(sorted, at)
    pages.push({ run, first: Posting.keyOf(Posting.hashAt(sorted, at), Posting.positionAt(sorted, at)), data })
    at = end
  }
  yield* insertMany("sorted_postings", pages)
})

/** The postings of a page of a run, as words. */
export const unpack = ({ paged }: Pick<Run, "paged">, data: Uint8Array): Uint32Array =>
  paged === 1 ? PostingPage.unpack(data) : Posting.toWords([data])

/** The runs that may be read, oldest first. */
export const live = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db.selectFrom("posting_run").selectAll().where("log", "=", log).where("state", "=", "live").orderBy("id")
  )
})

/** The pages of a run that follow the one with this first posting, or its first ones: as many as one step reads. */
export const pagesAfter = Effect.fnUntraced(function* (run: Run, after: Uint8Array | undefined) {
  const { read } = yield* Database
  const pages = yield* read((db) => {
    const select = db.selectFrom(tableOf(run)).select(["first", "data"]).where("run", "=", run.id)
    return (after === undefined ? select : select.where("first", ">", after)).orderBy("first").limit(pagesPerStep)
  })
  return pages.map(({ data, first }) => ({ first, postings: unpack(run, data) }))
})

/** Notes that a run is still being built. */
export const keep = Effect.fnUntraced(function* (run: number) {
  const { query } = yield* Database
  const changed = yield* Clock.currentTimeMillis
  yield* query((db) =>
    db.updateTable("posting_run").set({ changed }).where("id", "=", run).where("state", "=", "building")
  )
})

/** Retires the runs of a log that nobody has built on since `before`. */
export const retireUnfinished = Effect.fnUntraced(function* (log: number, before: number) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("posting_run")
      .set({ state: "retired" })
      .where("log", "=", log)
      .where("state", "=", "building")
      .where("changed", "<", before)
  )
})

/** Has a run that is built take the place of others, of which none may have been replaced meanwhile. */
export const replace = Effect.fnUntraced(function* (parts: ReadonlyArray<Run>, run: number) {
  const { query, transaction } = yield* Database
  const changed = yield* Clock.currentTimeMillis
  const ids = parts.map(({ id }) => id)
  const move = (runs: ReadonlyArray<number>, from: Run["state"], to: Run["state"]) =>
    query((db) =>
      db
        .updateTable("posting_run")
        .set({ state: to, changed })
        .where("id", "in", runs)
        .where("state", "=", from)
        .returning("id")
    )
  yield* transaction(
    Effect.gen(function* () {
      const retired = yield* move(ids, "live", "retired")
      const built = yield* move([run], "building", "live")
      if (retired.length < ids.length || built.length === 0) return yield* new Superseded()
    })
  )
})

/** Removes a run, its pages first and some at a time. */
export const remove = Effect.fnUntraced(function* (run: Pick<Run, "id" | "paged">) {
  const { query, read } = yield* Database
  const table = tableOf(run)
  while (true) {
    const rows = yield* read((db) =>
      db.selectFrom(table).select("first").where("run", "=", run.id).orderBy("first").limit(pagesPerStep)
    )
    const last = rows.at(-1)
    if (last === undefined) break
    yield* query((db) => db.deleteFrom(table).where("run", "=", run.id).where("first", "<=", last.first))
  }
  yield* query((db) => db.deleteFrom("posting_run").where("id", "=", run.id))
})

/** Removes the runs that name nothing at or above a position. */
export const drop = Effect.fnUntraced(function* (log: number, below: number) {
  for (const run of yield* live(log)) if (run.last_position < below) yield* remove(run)
})

/** Another process has merged the same runs, or removed the one that was built: nothing was changed. */
export class Superseded extends Schema.TaggedError<Superseded>()("Superseded", {}) {}
