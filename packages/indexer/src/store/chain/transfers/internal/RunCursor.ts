/** Reads the postings of a run one after another, its pages ahead in steps. */
import * as Effect from "effect/Effect"
import * as Posting from "./Posting.ts"
import * as PostingRuns from "./PostingRuns.ts"

/** Where the reading of a run is; the posting at that place is at hand as the three numbers by which it sorts. */
export class RunCursor {
  readonly run: PostingRuns.Run
  words: Uint32Array = new Uint32Array(0)
  at = 0
  first = 0
  second = 0
  third = 0
  hasEnded = false
  #after: Uint8Array | undefined

  constructor(run: PostingRuns.Run) {
    this.run = run
  }

  get isEmpty() {
    return this.at >= this.words.length
  }

  /** Takes the numbers of the posting at the place, if there is one. */
  look() {
    const { at, words } = this
    if (at >= words.length) return
    this.first = Posting.order(words[at]!)
    this.second = Posting.order(words[at + 1]!)
    this.third = Posting.order(words[at + 2]!)
  }

  /** Reads ahead, or notes that the run has ended. */
  get load() {
    return Effect.map(PostingRuns.pagesAfter(this.run, this.#after), (pages) => {
      this.words = Posting.toWords(pages.map(({ data }) => data))
      this.#after = pages.at(-1)?.first
      this.hasEnded = pages.length === 0
      this.at = 0
      this.look()
    })
  }
}

const isBefore = (a: RunCursor, b: RunCursor): boolean => {
  if (a.first !== b.first) return a.first < b.first
  if (a.second !== b.second) return a.second < b.second
  return a.third < b.third
}

/** Takes the least postings until `into` is full or one of the cursors has nothing at hand; where `into` ends then. */
const takeAtHand = (cursors: ReadonlyArray<RunCursor>, into: Uint32Array, from: number): number => {
  let length = from
  while (length < into.length) {
    let least = cursors[0]!
    for (let i = 1; i < cursors.length; i++) if (isBefore(cursors[i]!, least)) least = cursors[i]!
    const { at, words } = least
    into[length] = words[at]!
    into[length + 1] = words[at + 1]!
    into[length + 2] = words[at + 2]!
    length += Posting.words
    least.at = at + Posting.words
    if (least.isEmpty) return length
    least.look()
  }
  return length
}

/** Takes the least postings of all cursors, in order, until `into` is full or all have ended; how many words. */
export const takeLeast = Effect.fnUntraced(function* (cursors: ReadonlyArray<RunCursor>, into: Uint32Array) {
  let length = 0
  while (length < into.length) {
    for (const cursor of cursors) if (cursor.isEmpty && !cursor.hasEnded) yield* cursor.load
    const left = cursors.filter(({ hasEnded }) => !hasEnded)
    if (left.length === 0) break
    length = takeAtHand(left, into, length)
  }
  return length
})
