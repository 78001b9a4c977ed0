/** Root of a Merkle Patricia trie (Yellow Paper, appendix D) over a list, keyed by the RLP of each index. */
import { must } from "../hex"
import { keccak } from "../keccak"
import { headBefore, list, stringBefore } from "./rlp"

/** What `rootOf` writes to. */
export const scratchBytes: usize = 8192

/** The RLP of an index, from the highest byte down. */
function keyOf(index: i32): u32 {
  if (index == 0) return 0x80000000
  if (index < 0x80) return (<u32>index) << 24
  return index < 0x100 ? 0x81000000 | ((<u32>index) << 16) : 0x82000000 | ((<u32>index) << 8)
}

function nibblesOf(index: i32): i32 {
  return index < 0x80 ? 2 : index < 0x100 ? 4 : 6
}

/** The index at a place in the order of keys: the RLP of 0 is 0x80, between that of 127 and that of 128. */
function indexAt(place: i32, count: i32): i32 {
  const short = min(count, 0x80)
  return place < short - 1 ? place + 1 : place == short - 1 ? 0 : place
}

function placeOf(index: i32, count: i32): i32 {
  return index == 0 ? min(count, 0x80) - 1 : index < 0x80 ? index - 1 : index
}

function shared(a: i32, b: i32): i32 {
  return clz(keyOf(a) ^ keyOf(b)) >> 2
}

/** Puts a path (hex-prefix encoding) before `at`: nibbles of an index from one to another. */
function pathBefore(at: usize, index: i32, from: i32, to: i32, flag: u8): usize {
  const key = keyOf(index)
  let next = at
  let nibble = to
  for (; nibble - from >= 2; nibble -= 2) store<u8>(--next, <u8>(key >> (32 - 4 * nibble)))
  store<u8>(--next, nibble > from ? ((flag + 1) << 4) | <u8>((key >> (32 - 4 * nibble)) & 15) : flag << 4)
  return stringBefore(next, at - next)
}

/** Puts the hash of the leaf of a list's value to `to`. */
export function hashLeaf(to: usize, index: i32, count: i32, value: usize, length: usize): void {
  const place = placeOf(index, count)
  const before = place > 0 ? shared(indexAt(place - 1, count), index) : -1
  const behind = place < count - 1 ? shared(indexAt(place + 1, count), index) : -1
  const end = value + length
  const at = pathBefore(headBefore(value, 0x80, length), index, max(before, behind) + 1, nibblesOf(index), 2)
  const start = headBefore(at, list, end - at)
  // A shorter node would stand in its parent as it is.
  must(length > 1 && end - start >= 32)
  keccak(to, start, end - start)
}

/** Puts the hash of the node of places to `to`; those agree on their first `depth` nibbles. */
function hashNode(to: usize, from: i32, until: i32, depth: i32, count: i32, leaves: usize, scratch: usize): void {
  const first = indexAt(from, count)
  if (until == from + 1) {
    memory.copy(to, leaves + <usize>first * 32, 32)
    return
  }
  const agreed = shared(first, indexAt(until - 1, count))
  if (agreed > depth) {
    const end = scratch + 64
    hashNode(end - 32, from, until, agreed, count, leaves, end)
    store<u8>(end - 33, 0xa0)
    const at = pathBefore(end - 33, first, depth, agreed, 0)
    const start = headBefore(at, list, end - at)
    keccak(to, start, end - start)
    return
  }
  const payload = scratch + 8
  let next = payload
  let place = from
  for (let nibble: u32 = 0; nibble < 16; nibble++) {
    const begin = place
    while (place < until && ((keyOf(indexAt(place, count)) >> (28 - 4 * depth)) & 15) == nibble) place++
    if (place == begin) {
      store<u8>(next++, 0x80)
      continue
    }
    store<u8>(next, 0xa0)
    hashNode(next + 1, begin, place, depth + 1, count, leaves, scratch + 600)
    next += 33
  }
  // The RLP of one index is never the beginning of another's: no branch has a value of its own.
  store<u8>(next++, 0x80)
  const start = headBefore(payload, list, next - payload)
  keccak(to, start, next - start)
}

/** Puts the root over `count` leaves to `to`. */
export function rootOf(to: usize, count: i32, leaves: usize, scratch: usize): void {
  if (count == 0) {
    store<u8>(scratch, 0x80)
    keccak(to, scratch, 1)
  } else hashNode(to, 0, count, 0, count, leaves, scratch)
}
