/** Finds the transactions of a block by their ids, without a string for each. */
import * as Bytes from "@headwater/core/Bytes"
import * as Steps from "@headwater/core/Steps"

const wordAt = (id: Uint8Array, at: number): number =>
  (id[at]! << 24) | (id[at + 1]! << 16) | (id[at + 2]! << 8) | id[at + 3]!

/** A function that gives the place of an id in the list; -1 where the list has no such id. Empty ids are passed over. */
export function* make(ids: ReadonlyArray<Uint8Array>): Generator<void, (id: Uint8Array) => number> {
  const bits = Math.min(24, Math.max(4, 34 - Math.clz32(ids.length)))
  // Secret, since strangers choose transactions: a bucket of many would take long.
  const [first = 0, second = 0] = crypto.getRandomValues(new Uint32Array(2))
  const bucketOf = (id: Uint8Array) =>
    (Math.imul(wordAt(id, 0), first | 1) ^ Math.imul(wordAt(id, 4), second | 1)) >>> (32 - bits)
  /** The first place in each bucket, and behind each place the next one, counted from 1. */
  const buckets = new Int32Array(2 ** bits)
  const next = new Int32Array(ids.length)
  let place = 0
  yield* Steps.forEach(ids, (id) => {
    if (id.length > 0) {
      const bucket = bucketOf(id)
      next[place] = buckets[bucket]!
      buckets[bucket] = place + 1
    }
    place++
  })
  return (id) => {
    let found = buckets[bucketOf(id)]! - 1
    while (found >= 0 && !Bytes.equal(ids[found]!, id)) found = next[found]! - 1
    return found
  }
}
