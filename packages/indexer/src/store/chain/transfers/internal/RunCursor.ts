/** Reads the postings of a run one after another, its pages ahead in steps. */
import * as Effect from "effect/Effect"
import * as Posting from "./Posting.ts"
import * as PostingRuns from "./PostingRuns.ts"

/** Where the reading of a run is; the posting at that place is at hand as the three words by which it sorts. */
export class RunCursor {
  readonly run: PostingRuns.Run
  postings: Uint32Array = new Uint32Array(0)
  at = 0
  first = 0
  second = 0
  third = 0
  hasEnded = false
  #ahead: ReadonlyArray<Uint32Array> = []
  #page = 0
  #after: Uint8Array | undefined

  constructor(run: PostingRuns.Run) {
    this.run = run
  }

  get isEmpty() {
    return this.at >= this.postings.length
  }

  /** Moves on by so many words, into the next page that was read ahead where the one at hand has ended. */
  advance(by: number) {
    this.at += by
    while (this.isEmpty && this.#page < this.#ahead.length) {
      this.postings = this.#ahead[this.#page++]!
      this.at = 0
    }
    const { at, postings } = this
    if (this.isEmpty) return
    this.first = postings[at]!
    this.second = postings[at + 1]!
    this.third = postings[at + 2]!
  }

  /** Reads ahead, or notes that the run has ended. */
  get load() {
    return Effect.map(PostingRuns.pagesAfter(this.run, this.#after), (pages) => {
      this.#ahead = pages.map(({ postings }) => postings)
      this.#page = 0
      this.#after = pages.at(-1)?.first
      this.hasEnded = pages.length === 0
      this.advance(0)
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
    const { first, second, third } = least
    // A block that was entered again may have left a posting twice.
    const isTwice =
      length > 0 && into[length - 1] === third && into[length - 2] === second && into[length - 3] === first
    if (!isTwice) {
      into[length] = first
      into[length + 1] = second
      into[length + 2] = third
      length += Posting.words
    }
    least.advance(Posting.words)
    if (least.isEmpty) return length
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
