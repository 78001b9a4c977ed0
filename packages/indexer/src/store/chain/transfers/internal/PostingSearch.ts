/** Finds the positions at which an address may be named: among a log's unsorted postings and in its runs. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../../database/Database.ts"
import { rows } from "../../../database/Statements.ts"
import * as Posting from "./Posting.ts"
import * as PostingRuns from "./PostingRuns.ts"

export interface PositionsRequest {
  readonly order: "ascending" | "descending"
  readonly limit: number
  /** Begin beyond this position. */
  readonly after?: number | undefined
  /** Nothing below this height. */
  readonly fromHeight?: number | undefined
}

/** The first `limit` positions in an order, each once, of those from `low` to `high` that are added. */
class FirstPositions {
  readonly hash: number
  readonly descending: boolean
  readonly low: number
  readonly high: number
  readonly limit: number
  readonly #found = new Set<number>()

  constructor(address: Uint8Array, { after, fromHeight = 0, limit, order }: PositionsRequest) {
    const floor = Posting.positionOf(fromHeight, 0)
    this.hash = Posting.hash(address)
    this.descending = order === "descending"
    this.low = this.descending || after === undefined ? floor : Math.max(floor, after + 1)
    this.high = this.descending && after !== undefined ? after - 1 : Number.MAX_SAFE_INTEGER
    this.limit = limit
  }

  add(position: number) {
    if (position >= this.low && position <= this.high) this.#found.add(position)
  }

  get result(): ReadonlyArray<number> {
    return [...this.#found].sort((a, b) => (this.descending ? b - a : a - b)).slice(0, this.limit)
  }

  /** The last of the first positions, beyond which nothing is wanted any more; undefined while there are too few. */
  get end(): number | undefined {
    return this.#found.size < this.limit ? undefined : this.result.at(-1)
  }
}

/** Rows that are read at first: a busy address has a page in them. */
const rowsAtFirst = 2
/** All other rows are so few, as long as `Compaction` goes on. */
const rowsThen = 1_000

/** Adds the unsorted postings that can be among the first, those of the nearest blocks first. */
const addUnsorted = Effect.fnUntraced(function* (log: number, first: FirstPositions) {
  const { read } = yield* Database
  let low = Posting.heightOf(first.low)
  let high = Posting.heightOf(first.high)
  for (let limit = rowsAtFirst; ; limit = rowsThen) {
    const { end } = first
    if (end !== undefined && first.descending) low = Math.max(low, Posting.heightOf(end))
    if (end !== undefined && !first.descending) high = Math.min(high, Posting.heightOf(end))
    const staged = yield* read((db) =>
      db
        .selectFrom("staged_postings")
        .select(["height", "data"])
        .where("log", "=", log)
        .where("height", ">=", low)
        .where("height", "<=", high)
        .orderBy("height", first.descending ? "desc" : "asc")
        .limit(limit)
    )
    for (const { data } of staged) {
      const bytes = Posting.asBuffer(data)
      for (let at = 0; at < bytes.length; at += Posting.width) {
        if (Posting.isOf(bytes, at, first.hash)) first.add(Posting.readPosition(bytes, at))
      }
    }
    if (staged.length < limit) return
    const last = staged.at(-1)!.height
    if (first.descending) high = last - 1
    else low = last + 1
  }
})

/** For each of the runs the page that a key belongs to; runs that begin behind the key have none. */
const pagesOf = Effect.fnUntraced(function* (runs: ReadonlyArray<PostingRuns.Run>, key: Uint8Array) {
  const { numbers, read } = yield* Database
  const found = new Map<number, Uint32Array>()
  for (const table of PostingRuns.tables) {
    const ids = runs.filter((run) => PostingRuns.tableOf(run) === table).map(({ id }) => id)
    if (ids.length === 0) continue
    const pages = yield* read(
      rows(sql<{ readonly run: number; readonly data: Uint8Array | null }>`
        select run.id as run, (
          select page.data from ${sql.table(table)} page
          where page.run = run.id and page.first <= ${key} order by page.first desc limit 1
        ) as data
        from posting_run run where run.id in ${numbers(ids)}`)
    )
    for (const { data, run } of pages) {
      if (data !== null) found.set(run, PostingRuns.unpack({ paged: table === PostingRuns.tables[0] ? 1 : 0 }, data))
    }
  }
  return found
})

/** The page of a run that a key belongs to, or that follows a key. */
const pageAt = Effect.fnUntraced(function* (run: PostingRuns.Run, direction: "of" | "after", key: Uint8Array) {
  const { read } = yield* Database
  const [page] = yield* read((db) => {
    const select = db.selectFrom(PostingRuns.tableOf(run)).select("data").where("run", "=", run.id).limit(1)
    return direction === "of"
      ? select.where("first", "<=", key).orderBy("first", "desc")
      : select.where("first", ">", key).orderBy("first")
  })
  return page && PostingRuns.unpack(run, page.data)
})

/** Adds the postings of a run from the highest position down, beginning in the page of that. */
const addBackward = Effect.fnUntraced(function* (
  run: PostingRuns.Run,
  first: FirstPositions,
  page: Uint32Array | undefined
) {
  const { hash, low } = first
  let postings = page
  let high = first.high
  let left = first.limit
  while (postings !== undefined && left > 0) {
    let at = (Posting.countBefore(postings, hash, high + 1) - 1) * Posting.words
    for (; at >= 0 && left > 0; at -= Posting.words) {
      if (Posting.hashAt(postings, at) !== hash) return
      const position = Posting.positionAt(postings, at)
      if (position < low) return
      first.add(position)
      left--
    }
    if (at >= 0 || Posting.hashAt(postings, 0) !== hash) return
    high = Posting.positionAt(postings, 0) - 1
    if (high < low) return
    postings = yield* pageAt(run, "of", Posting.keyOf(hash, high))
  }
})

/** Adds the postings of a run from the lowest position up, beginning in the page of that. */
const addForward = Effect.fnUntraced(function* (
  run: PostingRuns.Run,
  first: FirstPositions,
  page: Uint32Array | undefined
) {
  const { hash, high, low } = first
  let postings = page ?? (yield* pageAt(run, "after", Posting.keyOf(hash, low)))
  let left = first.limit
  while (postings !== undefined && left > 0) {
    let at = Posting.countBefore(postings, hash, low) * Posting.words
    for (; at < postings.length && left > 0; at += Posting.words) {
      if (Posting.hashAt(postings, at) !== hash) return
      const position = Posting.positionAt(postings, at)
      if (position > high) return
      first.add(position)
      left--
    }
    const key = Posting.keyOf(Posting.hashAt(postings, 0), Posting.positionAt(postings, 0))
    postings = yield* pageAt(run, "after", key)
  }
})

/** The first positions at which `address` may be named, in the wanted order, each once. */
export const positions = Effect.fnUntraced(function* (log: number, address: Uint8Array, request: PositionsRequest) {
  const first = new FirstPositions(address, request)
  // Before the runs: a block whose postings come into a run meanwhile is found twice, and not missed.
  yield* addUnsorted(log, first)
  const { descending, high, low } = first
  const runs = (yield* PostingRuns.live(log))
    .filter((run) => run.last_position >= low && run.first_position <= high)
    .sort((a, b) => (descending ? b.last_position - a.last_position : a.first_position - b.first_position))
  const key = Posting.keyOf(first.hash, descending ? high : low)
  /** Whether a run can have one of the first positions: runs come in the order of the positions. */
  const isNeeded = ({ first_position, last_position }: PostingRuns.Run) => {
    const { end } = first
    return end === undefined || (descending ? last_position >= end : first_position <= end)
  }
  let read = 0
  for (let many = 1; read < runs.length && isNeeded(runs[read]!); many *= 2) {
    const some = runs.slice(read, read + many)
    const pages = yield* pagesOf(some, key)
    for (const run of some) {
      yield* descending ? addBackward(run, first, pages.get(run.id)) : addForward(run, first, pages.get(run.id))
    }
    read += many
  }
  return first.result
})
