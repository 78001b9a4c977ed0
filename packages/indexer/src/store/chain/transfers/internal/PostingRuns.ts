/**
 * Sorted postings of a log on disk: runs of pages. A run never changes; a merge writes a larger one and then retires the
 * parts, whose pages stay for readers that already know of them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Database } from "../../../database/Database.ts"
import type { Row } from "../../../database/Tables.ts"
import * as Posting from "./Posting.ts"

export type Run = Row<"posting_run">

/** Postings in a page: about four kilobytes. */
const perPage = 330
/** Pages read, written or removed in one step. */
export const pagesPerStep = 64
/** Bytes of the postings that fill the pages of one step. */
export const bytesPerStep = pagesPerStep * perPage * Posting.width

/** Makes a run without pages. */
export const insert = Effect.fnUntraced(function* (run: Omit<Run, "id" | "changed">) {
  const { query } = yield* Database
  const changed = yield* Clock.currentTimeMillis
  const [row] = yield* query((db) =>
    db
      .insertInto("posting_run")
      .values({ ...run, changed })
      .returning("id")
  )
  return row!.id
})

/** Adds sorted postings, cut into pages, to a run; the key of a page is its first posting. */
export const append = Effect.fnUntraced(function* (run: number, sorted: Buffer) {
  const { insertMany } = yield* Database
  const pages: Array<Row<"posting_page">> = []
  for (let at = 0; at < sorted.length; at += perPage * Posting.width) {
    const data = sorted.subarray(at, at + perPage * Posting.width)
    pages.push({ run, first: data.subarray(0, Posting.width), data })
  }
  yield* insertMany("posting_page", pages)
})

/** The runs that may be read, oldest first. */
export const live = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db.selectFrom("posting_run").selectAll().where("log", "=", log).where("state", "=", "live").orderBy("id")
  )
})

/** Has a run take the place of others. */
export const replace = Effect.fnUntraced(function* (parts: ReadonlyArray<Run>, run: number) {
  const { query, transaction } = yield* Database
  const changed = yield* Clock.currentTimeMillis
  const ids = parts.map(({ id }) => id)
  yield* transaction(
    Effect.andThen(
      query((db) => db.updateTable("posting_run").set({ state: "live", changed }).where("id", "=", run)),
      query((db) => db.updateTable("posting_run").set({ state: "retired", changed }).where("id", "in", ids))
    )
  )
})

/** Removes a run, its pages first and some at a time. */
export const remove = Effect.fnUntraced(function* (run: number) {
  const { query, read } = yield* Database
  while (true) {
    const rows = yield* read((db) =>
      db.selectFrom("posting_page").select("first").where("run", "=", run).orderBy("first").limit(pagesPerStep)
    )
    const last = rows.at(-1)
    if (last === undefined) break
    yield* query((db) => db.deleteFrom("posting_page").where("run", "=", run).where("first", "<=", last.first))
  }
  yield* query((db) => db.deleteFrom("posting_run").where("id", "=", run))
})

/** Removes the runs that name nothing at or above a position. */
export const drop = Effect.fnUntraced(function* (log: number, below: number) {
  for (const { id, last_position } of yield* live(log)) if (last_position < below) yield* remove(id)
})
