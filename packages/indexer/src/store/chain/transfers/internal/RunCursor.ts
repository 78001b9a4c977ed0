/** Reads the postings of a run one after another, its pages ahead in steps. */
import * as Effect from "effect/Effect"
import { Database, type DatabaseError } from "../../../database/Database.ts"
import * as Posting from "./Posting.ts"
import { pagesPerStep } from "./PostingRuns.ts"

/** Where a posting is: bytes, and the offset in them. */
interface Place {
  readonly bytes: Buffer
  readonly at: number
}

export interface RunCursor {
  /** Reads ahead where nothing is at hand and the run has not ended. */
  readonly load: Effect.Effect<void, DatabaseError, Database>
  /** The posting under the cursor; undefined where the run has to be read further, or has ended. */
  readonly current: () => Place | undefined
  readonly hasEnded: () => boolean
  readonly advance: () => void
}

export const make = (run: number): RunCursor => {
  let pages: ReadonlyArray<Buffer> = []
  let page = 0
  let at = 0
  let after: Uint8Array | undefined
  let ended = false
  return {
    load: Effect.gen(function* () {
      const { read } = yield* Database
      const rows = yield* read((db) => {
        const select = db.selectFrom("posting_page").select(["first", "data"]).where("run", "=", run)
        return (after === undefined ? select : select.where("first", ">", after)).orderBy("first").limit(pagesPerStep)
      })
      pages = rows.map(({ data }) => Posting.asBuffer(data))
      after = rows.at(-1)?.first
      ended = rows.length === 0
      page = 0
      at = 0
    }),
    current: () => {
      const bytes = pages[page]
      return bytes === undefined ? undefined : { bytes, at }
    },
    hasEnded: () => ended,
    advance: () => {
      at += Posting.width
      if (at < pages[page]!.length) return
      page++
      at = 0
    }
  }
}

const isBefore = (a: Place, b: Place) =>
  a.bytes.compare(b.bytes, b.at, b.at + Posting.width, a.at, a.at + Posting.width) < 0

/** Takes the least postings of all cursors, in order, until `into` is full or all have ended; how many bytes. */
export const takeLeast = Effect.fnUntraced(function* (cursors: ReadonlyArray<RunCursor>, into: Buffer) {
  let length = 0
  while (length < into.length) {
    let least: RunCursor | undefined
    let place: Place | undefined
    for (const cursor of cursors) {
      if (cursor.current() === undefined && !cursor.hasEnded()) yield* cursor.load
      const next = cursor.current()
      if (next === undefined || (place !== undefined && !isBefore(next, place))) continue
      least = cursor
      place = next
    }
    if (least === undefined || place === undefined) break
    place.bytes.copy(into, length, place.at, place.at + Posting.width)
    length += Posting.width
    least.advance()
  }
  return length
})
