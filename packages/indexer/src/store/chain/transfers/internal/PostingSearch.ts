/** Finds the positions at which an address may be named: among a log's unsorted postings and in its runs. */
import * as Effect from "effect/Effect"
import { Database } from "../../../database/Database.ts"
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
  readonly hash: Posting.AddressHash
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

  /** Whether a run can have one of the first positions: runs come in the order of the positions. */
  needs({ first_position, last_position }: PostingRuns.Run) {
    if (this.#found.size < this.limit) return true
    const end = this.result.at(-1)!
    return this.descending ? last_position >= end : first_position <= end
  }
}

const addUnsorted = Effect.fnUntraced(function* (log: number, first: FirstPositions) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("staged_postings")
      .select("data")
      .where("log", "=", log)
      .where("height", ">=", Posting.heightOf(first.low))
      .where("height", "<=", Posting.heightOf(first.high))
  )
  for (const { data } of rows) {
    const bytes = Posting.asBuffer(data)
    for (let at = 0; at < bytes.length; at += Posting.width) {
      if (Posting.isOf(bytes, at, first.hash)) first.add(Posting.readPosition(bytes, at))
    }
  }
})

/** The page of a run that a key belongs to, or that follows a key. */
const pageAt = Effect.fnUntraced(function* (run: number, direction: "of" | "after", key: Uint8Array) {
  const { read } = yield* Database
  const [page] = yield* read((db) => {
    const select = db.selectFrom("posting_page").select(["first", "data"]).where("run", "=", run).limit(1)
    return direction === "of"
      ? select.where("first", "<=", key).orderBy("first", "desc")
      : select.where("first", ">", key).orderBy("first")
  })
  return page === undefined ? undefined : { first: page.first, postings: Posting.asBuffer(page.data) }
})

/** Adds the postings of a run from the highest position down. */
const addBackward = Effect.fnUntraced(function* (run: number, first: FirstPositions) {
  let key = Posting.keyOf(first.hash, first.high)
  let left = first.limit
  while (left > 0) {
    const page = yield* pageAt(run, "of", key)
    if (page === undefined) return
    const { postings } = page
    let i = Posting.countUpTo(postings, key) - 1
    for (; i >= 0 && left > 0; i--) {
      const at = i * Posting.width
      if (!Posting.isOf(postings, at, first.hash)) return
      const position = Posting.readPosition(postings, at)
      if (position < first.low) return
      first.add(position)
      left--
    }
    if (i >= 0 || !Posting.isOf(postings, 0, first.hash)) return
    key = Posting.keyOf(first.hash, Posting.readPosition(postings, 0) - 1)
  }
})

/** Adds the postings of a run from the lowest position up. */
const addForward = Effect.fnUntraced(function* (run: number, first: FirstPositions) {
  const key = Posting.keyOf(first.hash, first.low)
  let page = (yield* pageAt(run, "of", key)) ?? (yield* pageAt(run, "after", key))
  let left = first.limit
  while (page !== undefined && left > 0) {
    const { postings } = page
    for (let i = Posting.countBefore(postings, key); i * Posting.width < postings.length && left > 0; i++) {
      const at = i * Posting.width
      if (!Posting.isOf(postings, at, first.hash)) return
      const position = Posting.readPosition(postings, at)
      if (position > first.high) return
      first.add(position)
      left--
    }
    page = yield* pageAt(run, "after", page.first)
  }
})

/** The first positions at which `address` may be named, in the wanted order, each once. */
export const positions = Effect.fnUntraced(function* (log: number, address: Uint8Array, request: PositionsRequest) {
  const first = new FirstPositions(address, request)
  yield* addUnsorted(log, first)
  const runs = (yield* PostingRuns.live(log))
    .filter((run) => run.last_position >= first.low && run.first_position <= first.high)
    .sort((a, b) => (first.descending ? b.last_position - a.last_position : a.first_position - b.first_position))
  for (const run of runs) {
    if (!first.needs(run)) break
    yield* first.descending ? addBackward(run.id, first) : addForward(run.id, first)
  }
  return first.result
})
