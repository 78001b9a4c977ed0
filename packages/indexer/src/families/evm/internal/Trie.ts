/** Root of a Merkle Patricia trie (Yellow Paper, appendix D) over a list, keyed by the RLP of each index. */
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Rlp from "./Rlp.ts"

export type Hash = (bytes: Uint8Array) => Uint8Array

interface Entry {
  readonly nibbles: ReadonlyArray<number>
  readonly value: Uint8Array
}

const empty = new Uint8Array(0)

/** Hex-prefix encoding of a path. */
const path = (nibbles: ReadonlyArray<number>, leaf: boolean): Uint8Array => {
  const odd = nibbles.length % 2
  const flagged = odd === 1 ? [leaf ? 3 : 1, ...nibbles] : [leaf ? 2 : 0, 0, ...nibbles]
  return Uint8Array.from(
    { length: flagged.length / 2 },
    (_, index) => flagged[2 * index]! * 16 + flagged[2 * index + 1]!
  )
}

const sharedLength = (a: ReadonlyArray<number>, b: ReadonlyArray<number>, from: number): number => {
  let at = from
  while (at < a.length && a[at] === b[at]) at++
  return at - from
}

/** A node's content; `entries` are sorted and agree on their first `depth` nibbles. */
function* node(entries: ReadonlyArray<Entry>, depth: number, hash: Hash): Generator<void, Rlp.Item> {
  const first = entries[0]!
  if (entries.length === 1) return [path(first.nibbles.slice(depth), true), first.value]
  const shared = sharedLength(first.nibbles, entries.at(-1)!.nibbles, depth)
  if (shared > 0) {
    return [path(first.nibbles.slice(depth, depth + shared), false), yield* reference(entries, depth + shared, hash)]
  }
  const children: Array<Rlp.Item> = []
  for (let nibble = 0, from = 0; nibble < 16; nibble++) {
    let to = from
    while (to < entries.length && entries[to]!.nibbles[depth] === nibble) to++
    children.push(to === from ? empty : yield* reference(entries.slice(from, to), depth + 1, hash))
    from = to
  }
  // The RLP of one index is never the beginning of another's: no branch has a value of its own.
  return [...children, empty]
}

/** A node within its parent: itself if it is short, else its hash. */
function* reference(entries: ReadonlyArray<Entry>, depth: number, hash: Hash): Generator<void, Rlp.Item> {
  const content = yield* node(entries, depth, hash)
  yield
  const bytes = Rlp.encode(content)
  return bytes.length < 32 ? content : hash(bytes)
}

const keys: Array<ReadonlyArray<number>> = []

/** Path of an index, the same in every block. */
const keyOf = (index: number): ReadonlyArray<number> =>
  (keys[index] ??= [...Rlp.encode(Rlp.integer(index))].flatMap((byte) => [byte >> 4, byte & 15]))

/** The RLP of 0 is 0x80, that of 1 to 127 is the number, and all others are longer: indices in the order of their paths. */
const inOrder = (count: number): ReadonlyArray<number> => {
  const indices = Array.from({ length: count }, (_, index) => index)
  return [...indices.slice(1, 128), 0, ...indices.slice(128)]
}

/** Root of the trie that maps each index to its value; that of no values is the hash of an empty string's RLP. */
export function* rootOfList(values: ReadonlyArray<Uint8Array>, hash: Hash): Generator<void, Uint8Array> {
  if (values.length === 0) return hash(Rlp.encode(empty))
  const entries = yield* TimeSlice.map(
    inOrder(values.length),
    (index): Entry => ({ nibbles: keyOf(index), value: values[index]! })
  )
  return hash(Rlp.encode(yield* node(entries, 0, hash)))
}
