/** Finds the positions at which addresses may be named: among a log's unsorted postings and in its runs. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../../database/Database.ts"
import { prepared } from "../../../database/Prepared.ts"
import { inChunks, rows } from "../../../database/Statements.ts"
import * as Posting from "./Posting.ts"
import * as PostingRuns from "./PostingRuns.ts"

interface PositionsRequest {
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

const unsorted = (order: "asc" | "desc") =>
  prepared((db, log: number, low: number, high: number, limit: number) =>
    db
      .selectFrom("staged_postings")
      .select(["height", "data"])
      .where("log", "=", log)
      .where("height", ">=", low)
      .where("height", "<=", high)
      .orderBy("height", order)
      .limit(limit)
  )
const unsortedUp = unsorted("asc")
const unsortedDown = unsorted("desc")

/** Adds the unsorted postings that can be among the first, those of the nearest blocks first. */
const addUnsorted = Effect.fnUntraced(function* (log: number, first: FirstPositions) {
  const { read } = yield* Database
  let low = Posting.heightOf(first.low)
  let high = Posting.heightOf(first.high)
  for (let limit = rowsAtFirst; ; limit = rowsThen) {
    const { end } = first
    if (end !== undefined && first.descending) low = Math.max(low, Posting.heightOf(end))
    if (end !== undefined && !first.descending) high = Math.min(high, Posting.heightOf(end))
    const staged = yield* read((first.descending ? unsortedDown : unsortedUp)(log, low, high, limit))
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

/** A run, with the page that a key belongs to; runs that begin behind the key have none. */
interface RunAtKey extends PostingRuns.Run {
  readonly data: Uint8Array | null
}

/** The live runs that have positions of a range, each with its page for a key, which stands twice. */
const runsBetween = prepared((db, key: Uint8Array, sameKey: Uint8Array, log: number, low: number, high: number) => {
  const [page, former] = PostingRuns.tables.map(
    (table, i) => sql`select page.data from ${sql.table(table)} page
        where page.run = run.id and page.first <= ${i === 0 ? key : sameKey} order by page.first desc limit 1`
  )
  return rows(sql<RunAtKey>`
      select run.*, coalesce((${page}), (${former})) as data from posting_run run
      where run.log = ${log} and run.state = 'live' and run.last_position >= ${low} and run.first_position <= ${high}`)(
    db
  )
})

/** The runs that can have positions among the first ones. */
const runsAt = Effect.fnUntraced(function* (log: number, { descending, end, hash, high, low }: FirstPositions) {
  const { read } = yield* Database
  const key = Posting.keyOf(hash, descending ? high : low)
  return yield* read(runsBetween(key, key, log, descending ? (end ?? low) : low, descending ? high : (end ?? high)))
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
  let last: number | undefined
  while (postings !== undefined && left > 0) {
    let at = (Posting.countBefore(postings, hash, high + 1) - 1) * Posting.words
    for (; at >= 0 && left > 0; at -= Posting.words) {
      if (Posting.hashAt(postings, at) !== hash) return
      const position = Posting.positionAt(postings, at)
      if (position < low) return
      first.add(position)
      // A posting may be there twice, as of two sides with the same hash.
      if (position !== last) left--
      last = position
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
  let last: number | undefined
  while (postings !== undefined && left > 0) {
    let at = Posting.countBefore(postings, hash, low) * Posting.words
    for (; at < postings.length && left > 0; at += Posting.words) {
      if (Posting.hashAt(postings, at) !== hash) return
      const position = Posting.positionAt(postings, at)
      if (position > high) return
      first.add(position)
      if (position !== last) left--
      last = position
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
  const { descending } = first
  const runs = yield* runsAt(log, first)
  const ordered = [...runs].sort((a, b) =>
    descending ? b.last_position - a.last_position : a.first_position - b.first_position
  )
  for (const run of ordered) {
    const { end } = first
    // Runs come in the order of the positions.
    if (end !== undefined && (descending ? run.last_position < end : run.first_position > end)) break
    const page = run.data === null ? undefined : PostingRuns.unpack(run, run.data)
    yield* descending ? addBackward(run, first, page) : addForward(run, first, page)
  }
  return first.result
})

/** The first positions that are found of hashes. */
class FirstOfHashes {
  readonly #first: Map<number, number>

  constructor(hashes: ReadonlyArray<number>) {
    this.#first = new Map(hashes.map((hash) => [hash, Number.POSITIVE_INFINITY]))
  }

  add(postings: Uint32Array) {
    for (let at = 0; at < postings.length; at += Posting.words) {
      const hash = Posting.hashAt(postings, at)
      const position = Posting.positionAt(postings, at)
      if (position < (this.#first.get(hash) ?? 0)) this.#first.set(hash, position)
    }
  }

  /** The hashes of which a position from `from` on would be the first one. */
  before(from: number): ReadonlyArray<number> {
    return [...this.#first].flatMap(([hash, position]) => (position > from ? [hash] : []))
  }

  of(hash: number): number | undefined {
    const position = this.#first.get(hash)!
    return Number.isFinite(position) ? position : undefined
  }
}

/** Adds all unsorted postings of a log. */
const addAllUnsorted = Effect.fnUntraced(function* (log: number, first: FirstOfHashes) {
  const { read } = yield* Database
  for (let low = 0; ; ) {
    const staged = yield* read(unsortedUp(log, low, Number.MAX_SAFE_INTEGER, rowsThen))
    first.add(Posting.toWords(staged.map(({ data }) => data)))
    if (staged.length < rowsThen) return
    low = staged.at(-1)!.height + 1
  }
})

/** Adds the first posting that a run has of each hash: in the page that its key belongs to, or that the next page begins with. */
const addFirstOf = Effect.fnUntraced(function* (
  run: PostingRuns.Run,
  hashes: ReadonlyArray<number>,
  first: FirstOfHashes
) {
  const { read, selectEach } = yield* Database
  const table = PostingRuns.tableOf(run)
  const bounds = yield* selectEach<{ readonly page: Uint8Array | null; readonly next: Uint8Array | null }>(
    { key: "bytea" },
    hashes.map((hash) => ({ key: Posting.keyOf(hash, 0) })),
    `select
       (select first from ${table} where run = ${run.id} and first <= :key order by first desc limit 1) as page,
       (select first from ${table} where run = ${run.id} and first > :key order by first limit 1) as next`
  )
  const pages = new Map<string, Uint8Array>()
  for (const { next, page } of bounds) {
    if (page !== null) pages.set(Bytes.key(page), page)
    if (next !== null) first.add(Posting.toWords([next]))
  }
  const found = yield* inChunks([...pages.values()], (some) =>
    read((db) => db.selectFrom(table).select("data").where("run", "=", run.id).where("first", "in", some))
  )
  for (const { data } of found) first.add(PostingRuns.unpack(run, data))
})

/** The first position at which each address may be named, by its key, in one look for all of them. */
export const firstOfEach = Effect.fnUntraced(function* (log: number, addresses: ReadonlyArray<Uint8Array>) {
  const found = new Map<string, number>()
  if (addresses.length === 0) return found
  const hashes = new Map(addresses.map((address) => [Bytes.key(address), Posting.hash(address)]))
  const first = new FirstOfHashes([...hashes.values()])
  // Before the runs, as in `positions`.
  yield* addAllUnsorted(log, first)
  const runs = [...(yield* PostingRuns.live(log))].sort((a, b) => a.first_position - b.first_position)
  for (const run of runs) yield* addFirstOf(run, first.before(run.first_position), first)
  for (const [key, hash] of hashes) {
    const position = first.of(hash)
    if (position !== undefined) found.set(key, position)
  }
  return found
})
