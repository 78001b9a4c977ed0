/** Members of JSON objects by their names, of at most 24 bytes: those of a fixed list, each of which has a slot. */
import { ended, enter, following, isNull, skip, special } from "./json"

const places: usize = 512
const placeBytes: usize = 32
const table = memory.data(16384)
const slotBytes: usize = 384
const outer = memory.data(768)
let slots = outer

/** The name's eight bytes from `offset` on. */
function part(from: usize, length: usize, offset: usize): u64 {
  if (length <= offset) return 0
  const left = length - offset
  const bytes = load<u64>(from + offset)
  return left >= 8 ? bytes : bytes & (((<u64>1) << (left << 3)) - 1)
}

/** Where the name stands in the table, or the free place that it would have. */
function place(a: u64, b: u64, c: u64): usize {
  const mixed = (a ^ rotl<u64>(b, 21) ^ rotl<u64>(c, 42)) * 0x9e3779b97f4a7c15
  let index = <usize>(mixed >> 55)
  let at = table + index * placeBytes
  while (load<u32>(at, 24) != 0 && (load<u64>(at) != a || load<u64>(at, 8) != b || load<u64>(at, 16) != c)) {
    index = (index + 1) & (places - 1)
    at = table + index * placeBytes
  }
  return at
}

const named = memory.data(32)

/** Adds a name; slots are numbered from 1. */
export function add(slot: i32, name: string): void {
  memory.fill(named, 0, 32)
  for (let index = 0; index < name.length; index++) store<u8>(named + <usize>index, <u8>name.charCodeAt(index))
  const a = load<u64>(named)
  const b = load<u64>(named, 8)
  const c = load<u64>(named, 16)
  const at = place(a, b, c)
  store<u64>(at, a)
  store<u64>(at, b, 8)
  store<u64>(at, c, 16)
  store<u32>(at, slot, 24)
}

/** Where the value of the member begins whose name was read last. */
export let valueAt: usize = 0

export const unknown = 0
export const escaped = -1

/** The slot of the name at `from`; an escape may hide any name. */
export function slotOf(from: usize): i32 {
  let next = special(from)
  if (load<u8>(next) == 0x5c) return escaped
  const length = next - from - 1
  next++
  if (load<u8>(next) != 0x3a || load<u8>(next, 1) <= 0x20) {
    while (load<u8>(next) != 0x3a) next++
    next++
    while (load<u8>(next) <= 0x20) next++
    valueAt = next
  } else valueAt = next + 1
  if (length > 24) return unknown
  return load<u32>(place(part(from + 1, length, 0), part(from + 1, length, 8), part(from + 1, length, 16)), 24)
}

/** Where the object ends that was read last. */
export let objectEnd: usize = 0

/** The objects that are read from now on stand within another one, whose members are kept until `leave`. */
export function descend(): void {
  slots = outer + slotBytes
}

export function leave(): void {
  slots = outer
}

/** Forgets the members that were read. */
export function clear(): void {
  memory.fill(slots, 0, slotBytes)
}

/** Keeps where the member's value is; false where there was one of this name before. */
export function keep(slot: i32, value: usize): bool {
  const at = slots + 4 * <usize>slot
  if (load<u32>(at) != 0) return false
  store<u32>(at, <u32>value)
  return true
}

/** Where the value of a member of the last object is; 0 where there is none, or null. */
export function member(slot: i32): usize {
  const value = <usize>load<u32>(slots + 4 * <usize>slot)
  return value != 0 && isNull(value) ? 0 : value
}

/** Reads the object at `from`; false where it is none, or its members are not certain. */
export function readObject(from: usize): bool {
  if (load<u8>(from) != 0x7b) return false
  clear()
  for (let next = enter(from); next != 0; ) {
    const slot = slotOf(next)
    if (slot == escaped || (slot != unknown && !keep(slot, valueAt))) return false
    next = following(skip(valueAt))
  }
  objectEnd = ended
  return true
}
