/**
 * The postings of a log on disk: staged ones, a row a block, and sorted runs of pages. A run never changes; merging
 * writes a larger one and then retires its parts, whose pages stay for readers that already know of them.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Database } from "../../../database/Database.ts"
import type { Row } from "../../../database/Tables.ts"
import * as Posting from "./Posting.ts"

/** Postings in a page: about four kilobytes. */
const perPage = 330
/** Runs of one level that are merged into one of the next. */
const fanOut = 8
/** Pages read or written in one step of a merge. */
const pagesPerStep = 64
/** How long a reader may still use a retired run, in milliseconds. */
const retiredMillis = 60_000

type Run = Row<"posting_run">

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Cuts sorted postings into the rows of a run; a page's key is its first posting. */
const pagesOf = (run: number, sorted: Buffer) => {
  const pages: Array<Row<"posting_page">> = []
  for (let at = 0; at < sorted.length; at += perPage * Posting.width) {
    const data = sorted.subarray(at, at + perPage * Posting.width)
    pages.push({ run, first: data.subarray(0, Posting.width), data })
  }
  return pages
}

const insertRun = Effect.fnUntraced(function* (run: Omit<Run, "id" | "changed">) {
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

/** Makes a run of everything staged, where that is at least `limit` postings. */
export const flush = Effect.fnUntraced(function* (log: number, limit: number) {
  const { insertMany, query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const rows = yield* query((db) =>
        db.selectFrom("staged_postings").select(["height", "data"]).where("log", "=", log).orderBy("height")
      )
      const staged = Buffer.concat(rows.map(({ data }) => data))
      const postings = staged.length / Posting.width
      if (postings < limit) return
      const run = yield* insertRun({
        ...{ log, level: 0, postings, state: "live" },
        first_position: Posting.readPosition(staged, 0),
        last_position: Posting.readPosition(staged, staged.length - Posting.width)
      })
      yield* insertMany("posting_page", pagesOf(run, Posting.sort(staged)))
      yield* query((db) =>
        db.deleteFrom("staged_postings").where("log", "=", log).where("height", "<=", rows.at(-1)!.height)
      )
    })
  )
})

const liveRuns = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db.selectFrom("posting_run").selectAll().where("log", "=", log).where("state", "=", "live").orderBy("id")
  )
})

/** The pages of a run from a key on, read ahead in steps. */
const cursorOf = (run: number) => {
  let pages: Array<Buffer> = []
  let page = 0
  let at = 0
  let after: Uint8Array | undefined
  const load = Effect.fnUntraced(function* () {
    const { read } = yield* Database
    const rows = yield* read((db) => {
      const select = db.selectFrom("posting_page").select(["first", "data"]).where("run", "=", run)
      return (after === undefined ? select : select.where("first", ">", after)).orderBy("first").limit(pagesPerStep)
    })
    pages = rows.map(({ data }) => asBuffer(data))
    after = rows.at(-1)?.first
    page = 0
    at = 0
  })
  return {
    load,
    /** Bytes and offset of the posting under the cursor; undefined where another `load` is due, or the run has ended. */
    current: () => (pages[page] === undefined ? undefined : { bytes: pages[page]!, at }),
    ended: () => pages.length === 0,
    advance: () => {
      at += Posting.width
      if (at < pages[page]!.length) return
      page++
      at = 0
    }
  }
}

/** Merges runs of one level into one of the next, as long as a level is full. */
export const merge = Effect.fnUntraced(function* (log: number) {
  yield* sweep(log)
  while (true) {
    const runs = yield* liveRuns(log)
    const level = runs
      .map((run) => run.level)
      .find((level) => runs.filter((run) => run.level === level).length >= fanOut)
    if (level === undefined) return
    yield* mergeRuns(
      log,
      runs.filter((run) => run.level === level)
    )
  }
})

const mergeRuns = Effect.fnUntraced(function* (log: number, parts: ReadonlyArray<Run>) {
  const { insertMany, query, transaction } = yield* Database
  const run = yield* insertRun({
    ...{ log, level: parts[0]!.level + 1, state: "building" },
    postings: parts.reduce((sum, { postings }) => sum + postings, 0),
    first_position: Math.min(...parts.map((part) => part.first_position)),
    last_position: Math.max(...parts.map((part) => part.last_position))
  })
  const cursors = parts.map(({ id }) => cursorOf(id))
  for (const cursor of cursors) yield* cursor.load()
  const merged = Buffer.allocUnsafe(pagesPerStep * perPage * Posting.width)
  let length = 0
  while (true) {
    let least: (typeof cursors)[number] | undefined
    for (const cursor of cursors) {
      if (cursor.ended()) continue
      if (cursor.current() === undefined) yield* cursor.load()
      const next = cursor.current()
      if (next === undefined) continue
      const best = least?.current()
      if (
        best === undefined ||
        next.bytes.compare(best.bytes, best.at, best.at + Posting.width, next.at, next.at + Posting.width) < 0
      ) {
        least = cursor
      }
    }
    if (least !== undefined) {
      const { at, bytes } = least.current()!
      bytes.copy(merged, length, at, at + Posting.width)
      length += Posting.width
      least.advance()
    }
    if (length === merged.length || least === undefined) {
      yield* insertMany("posting_page", pagesOf(run, merged.subarray(0, length)))
      length = 0
    }
    if (least === undefined) break
  }
  const changed = yield* Clock.currentTimeMillis
  const ids = parts.map(({ id }) => id)
  yield* transaction(
    Effect.andThen(
      query((db) => db.updateTable("posting_run").set({ state: "live", changed }).where("id", "=", run)),
      query((db) => db.updateTable("posting_run").set({ state: "retired", changed }).where("id", "in", ids))
    )
  )
})

const remove = Effect.fnUntraced(function* (run: number) {
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

/** Removes what a crash left half built, and what has been retired long enough. */
const sweep = Effect.fnUntraced(function* (log: number) {
  const { read } = yield* Database
  const before = (yield* Clock.currentTimeMillis) - retiredMillis
  const runs = yield* read((db) =>
    db
      .selectFrom("posting_run")
      .select("id")
      .where("log", "=", log)
      .where((where) =>
        where.or([
          where("state", "=", "building"),
          where.and([where("state", "=", "retired"), where("changed", "<", before)])
        ])
      )
  )
  for (const { id } of runs) yield* remove(id)
})

/** Removes the runs that name nothing at or above a position. */
export const drop = Effect.fnUntraced(function* (log: number, below: number) {
  for (const { id, last_position } of yield* liveRuns(log)) if (last_position < below) yield* remove(id)
})

export interface PositionsRequest {
  readonly order: "ascending" | "descending"
  readonly limit: number
  readonly after?: number | undefined
  readonly fromHeight?: number | undefined
}

/** The first positions at which `address` may be named, in the wanted order, each once. */
export const positions = Effect.fnUntraced(function* (log: number, address: Uint8Array, request: PositionsRequest) {
  const { read } = yield* Database
  const hash = Posting.hash(address)
  const descending = request.order === "descending"
  const floor = Posting.positionOf(request.fromHeight ?? 0, 0)
  const low = descending ? floor : Math.max(floor, request.after === undefined ? 0 : request.after + 1)
  const high = descending && request.after !== undefined ? request.after - 1 : Number.MAX_SAFE_INTEGER
  const found = new Set<number>()
  const add = (position: number) => {
    if (position >= low && position <= high) found.add(position)
  }
  /** The position that completes the page so far, if the page is full. */
  const last = () => {
    if (found.size < request.limit) return undefined
    const sorted = [...found].sort((a, b) => (descending ? b - a : a - b))
    return sorted[request.limit - 1]!
  }

  const staged = yield* read((db) => {
    const select = db.selectFrom("staged_postings").select("data").where("log", "=", log)
    return select.where("height", ">=", Posting.heightOf(low)).where("height", "<=", Posting.heightOf(high))
  })
  for (const { data } of staged) {
    const bytes = asBuffer(data)
    for (let at = 0; at < bytes.length; at += Posting.width) {
      if (Posting.isOf(bytes, at, hash)) add(Posting.readPosition(bytes, at))
    }
  }

  const runs = (yield* liveRuns(log)).sort((a, b) =>
    descending ? b.last_position - a.last_position : a.first_position - b.first_position
  )
  for (const run of runs) {
    if (run.last_position < low || run.first_position > high) continue
    const full = last()
    if (full !== undefined && (descending ? run.last_position < full : run.first_position > full)) break
    yield* descending
      ? readBackward(run.id, hash, low, high, request.limit, add)
      : readForward(run.id, hash, low, high, request.limit, add)
  }
  return [...found].sort((a, b) => (descending ? b - a : a - b)).slice(0, request.limit)
})

/** Adds up to `limit` postings of a run from `high` down to `low`. */
const readBackward = Effect.fnUntraced(function* (
  run: number,
  hash: Posting.AddressHash,
  low: number,
  high: number,
  limit: number,
  add: (position: number) => void
) {
  const { read } = yield* Database
  let key = Posting.keyOf(hash, high)
  let left = limit
  while (left > 0) {
    const [page] = yield* read((db) =>
      db
        .selectFrom("posting_page")
        .select(["first", "data"])
        .where("run", "=", run)
        .where("first", "<=", key)
        .orderBy("first", "desc")
        .limit(1)
    )
    if (page === undefined) return
    const bytes = asBuffer(page.data)
    let i = Posting.countBefore(bytes, key)
    // The key itself may be a posting: it is the upper end, which counts.
    if (
      i * Posting.width < bytes.length &&
      bytes.compare(key, 0, Posting.width, i * Posting.width, (i + 1) * Posting.width) === 0
    )
      i++
    for (i--; i >= 0 && left > 0; i--) {
      const at = i * Posting.width
      if (!Posting.isOf(bytes, at, hash)) return
      const position = Posting.readPosition(bytes, at)
      if (position < low) return
      add(position)
      left--
    }
    if (i >= 0 || !Posting.isOf(bytes, 0, hash)) return
    key = Posting.keyOf(hash, Posting.readPosition(bytes, 0) - 1)
  }
})

/** Adds up to `limit` postings of a run from `low` up to `high`. */
const readForward = Effect.fnUntraced(function* (
  run: number,
  hash: Posting.AddressHash,
  low: number,
  high: number,
  limit: number,
  add: (position: number) => void
) {
  const { read } = yield* Database
  const key = Posting.keyOf(hash, low)
  const first = (direction: "before" | "after", from: Uint8Array) =>
    read((db) => {
      const select = db.selectFrom("posting_page").select(["first", "data"]).where("run", "=", run).limit(1)
      return direction === "before"
        ? select.where("first", "<=", from).orderBy("first", "desc")
        : select.where("first", ">", from).orderBy("first")
    })
  let [page] = yield* first("before", key)
  if (page === undefined) [page] = yield* first("after", key)
  let left = limit
  while (page !== undefined && left > 0) {
    const bytes = asBuffer(page.data)
    for (let i = Posting.countBefore(bytes, key); i * Posting.width < bytes.length && left > 0; i++) {
      const at = i * Posting.width
      if (!Posting.isOf(bytes, at, hash)) return
      const position = Posting.readPosition(bytes, at)
      if (position > high) return
      add(position)
      left--
    }
    ;[page] = yield* first("after", page.first)
  }
})
