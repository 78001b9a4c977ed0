/** Finds the transactions of a block by their ids, without a string for each. */
import type { Span } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Steps from "@headwater/core/Steps"

export interface TransactionIndex {
  /** The place of an id in the list; -1 where the list has no such id. */
  readonly find: (id: Uint8Array) => number
  /** As `find`, of the id whose reverse an outpoint begins with. */
  readonly findSpent: (outpoint: Span) => number
}

const wordAt = (id: Uint8Array, at: number): number =>
  (id[at]! << 24) | (id[at + 1]! << 16) | (id[at + 2]! << 8) | id[at + 3]!

const idSize = 32

/** As {@link wordAt}, of the reverse, which ends at `end`. */
const wordBefore = (bytes: Uint8Array, end: number): number =>
  (bytes[end - 1]! << 24) | (bytes[end - 2]! << 16) | (bytes[end - 3]! << 8) | bytes[end - 4]!

const isReverse = (id: Uint8Array, bytes: Uint8Array, end: number): boolean => {
  if (id.length !== idSize) return false
  for (let index = 0; index < idSize; index++) if (id[index] !== bytes[end - 1 - index]) return false
  return true
}

/** Secret, since strangers choose transactions: a bucket of many would take long. */
const [first = 0, second = 0] = crypto.getRandomValues(new Uint32Array(2))

/** The index of a list of ids. Empty ids are passed over. */
export function* make(ids: ReadonlyArray<Uint8Array>): Generator<void, TransactionIndex> {
  const bits = Math.min(24, Math.max(4, 34 - Math.clz32(ids.length)))
  const bucketOf = (word: number, nextWord: number) =>
    (Math.imul(word, first | 1) ^ Math.imul(nextWord, second | 1)) >>> (32 - bits)
  /** The first place in each bucket, and behind each place the next one, counted from 1. */
  const buckets = new Int32Array(2 ** bits)
  const next = new Int32Array(ids.length)
  let place = 0
  yield* Steps.forEach(ids, (id) => {
    if (id.length > 0) {
      const bucket = bucketOf(wordAt(id, 0), wordAt(id, 4))
      next[place] = buckets[bucket]!
      buckets[bucket] = place + 1
    }
    place++
  })
  return {
    find: (id) => {
      let found = buckets[bucketOf(wordAt(id, 0), wordAt(id, 4))]! - 1
      while (found >= 0 && !Bytes.equal(ids[found]!, id)) found = next[found]! - 1
      return found
    },
    findSpent: ({ at, bytes }) => {
      const end = at + idSize
      let found = buckets[bucketOf(wordBefore(bytes, end), wordBefore(bytes, end - 4))]! - 1
      while (found >= 0 && !isReverse(ids[found]!, bytes, end)) found = next[found]! - 1
      return found
    }
  }
}
