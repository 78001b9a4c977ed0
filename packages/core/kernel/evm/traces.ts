/**
 * Traces of geth's `callTracer` in steps: `openTraces`, then `readTrace` as often as there are transactions. Each gives 0
 * where something is not as in most blocks: then nothing is to be used.
 */
import { fixed, isBroken, must, whole, word } from "../hex"
import { closing, ended, enter, following, isNull, maxItem, skip } from "../json"
import { reach } from "../memory"
import { clear, escaped, keep, member, slotOf, unknown, valueAt } from "../names"
import * as members from "./members"

/**
 * Of each frame below the top, in order of the calls, those above before those below: sender (at 0), recipient (20), value
 * (40), what the frame is (72, a byte: 0 where it moves nothing), its depth (76), where its path is (80), and the transaction
 * (84).
 */
let frames: usize = 0
let frameCount: u32 = 0
const frameBytes: usize = 96
/** Room for frames. */
let frameLimit: u32 = 0
/** The places of a frame and of those above it, each 4 bytes. */
let paths: usize = 0
let pathsEnd: usize = 0
let pathTop: usize = 0
const maxDepth = 1000
const path = memory.data(4096)

const call = 1
const create = 2
const create2 = 3
const selfdestruct = 4
/** Moves nothing by the rules of the EVM, or by those of Nitro, where other frames tell the same. */
const still = 5

let item: usize = 0
let hashes: usize = 0
let count = 0
let index = 0
const hashed = memory.data(32)

export function framesAt(): usize {
  return frames
}

export function framesFound(): u32 {
  return frameCount
}

/** Begins with the result between these addresses, accepted as JSON, and the hashes of the block's `total` transactions. */
export function openTraces(from: usize, to: usize, hashesAt: usize, total: i32): bool {
  whole()
  if (load<u8>(from) != 0x5b) return false
  item = enter(from)
  hashes = hashesAt
  count = total
  index = 0
  frameCount = 0
  frames = (max(to, hashesAt + <usize>total * 32) + 127) & ~(<usize>63)
  // A frame that moves something has two addresses in its JSON.
  frameLimit = <u32>((to - from) / 64) + 1
  paths = frames + <usize>frameLimit * frameBytes
  pathTop = paths
  pathsEnd = paths + (to - from)
  return reach(pathsEnd + 4096)
}

/** What the frame of the type at `from` is; 0 where that is not known. */
function typeAt(from: usize): i32 {
  const length = closing(from) - from - 1
  const word = load<u32>(from, 1)
  if (word == 0x4c4c4143) {
    if (length == 4) return call
    return length == 8 && load<u32>(from, 5) == 0x45444f43 ? still : 0
  }
  if (word == 0x41455243) {
    if (length == 6 && load<u16>(from, 5) == 0x4554) return create
    return length == 7 && load<u16>(from, 5) == 0x4554 && load<u8>(from, 7) == 0x32 ? create2 : 0
  }
  if (length == 12) {
    if (word == 0x464c4553 && load<u64>(from, 5) == 0x5443555254534544) return selfdestruct
    return word == 0x454c4544 && load<u64>(from, 5) == 0x4c4c414345544147 ? still : 0
  }
  if (length == 7 && word == 0x41564e49 && (load<u32>(from, 5) & 0xffffff) == 0x44494c) return still
  return length == 10 && word == 0x54415453 && load<u32>(from, 5) == 0x4c414349 && load<u16>(from, 9) == 0x4c4c
    ? still
    : 0
}

const quote: u8 = 0x22

/** Reads the frame at `from`, and those below; behind it, or 0. */
function readFrame(from: usize, depth: i32): usize {
  if (load<u8>(from) != 0x7b || depth > maxDepth || frameCount >= frameLimit || from - item > maxItem) return 0
  const first = frameCount
  const firstPath = pathTop
  let type: usize = 0
  let sender: usize = 0
  let recipient: usize = 0
  let value: usize = 0
  let error: usize = 0
  let calls: usize = 0
  // The frame's place among the others, before those of its calls.
  if (depth > 0) frameCount++
  for (let next = enter(from); next != 0; ) {
    const slot = slotOf(next)
    const at = valueAt
    let behind: usize = 0
    if (slot == escaped) return 0
    if (slot == members.calls) {
      if (calls != 0) return 0
      calls = at
      behind = readCalls(at, depth)
      if (behind == 0) return 0
    } else {
      if (slot == members.type) {
        if (type != 0) return 0
        type = at
      } else if (slot == members.from) {
        if (sender != 0) return 0
        sender = at
      } else if (slot == members.to) {
        if (recipient != 0) return 0
        recipient = at
      } else if (slot == members.value) {
        if (value != 0) return 0
        value = at
      } else if (slot == members.error) {
        if (error != 0) return 0
        error = at
      }
      behind = skip(at)
    }
    next = following(behind)
  }
  const behind = ended
  if (depth == 0) {
    if (type == 0 || load<u8>(type) != quote) return 0
    store<u8>(hashed, error != 0 && !isNull(error) ? 1 : 0)
  }
  if (error != 0 && !isNull(error)) {
    frameCount = first
    pathTop = firstPath
    return behind
  }
  if (depth > 0 && !keepFrame(first, depth, type, sender, recipient, value)) return 0
  return behind
}

/** Puts the frame into its record; false where it cannot be read. */
function keepFrame(place: u32, depth: i32, type: usize, sender: usize, recipient: usize, value: usize): bool {
  const record = frames + <usize>place * frameBytes
  const kind = type != 0 && load<u8>(type) == quote ? typeAt(type) : 0
  const isStill = kind == still || value == 0 || isNull(value)
  const moves = !isStill && word(record + 40, value)
  if (isBroken || (moves && kind == 0)) return false
  store<u8>(record, moves ? <u8>kind : 0, 72)
  if (!moves) {
    // Nothing below has a place behind this one: it needs none.
    if (frameCount == place + 1) frameCount = place
    return true
  }
  fixed(record, sender, 20)
  fixed(record + 20, recipient, 20)
  store<u32>(record, depth, 76)
  store<u32>(record, <u32>pathTop, 80)
  store<u32>(record, index, 84)
  const bytes = <usize>depth * 4
  if (isBroken || pathTop + bytes > pathsEnd) return false
  memory.copy(pathTop, path, bytes)
  pathTop += bytes
  return true
}

/** Reads the calls of a frame; behind them, or 0. */
function readCalls(from: usize, depth: i32): usize {
  if (isNull(from)) return from + 4
  if (load<u8>(from) != 0x5b) return 0
  let place = 0
  for (let next = enter(from); next != 0; place++) {
    store<u32>(path + 4 * <usize>depth, place)
    const behind = readFrame(next, depth + 1)
    if (behind == 0) return 0
    next = following(behind)
  }
  return ended
}

/** Reads the next trace: 0 refused, 1 the transaction took effect, 2 it failed. */
export function readTrace(): i32 {
  if (item == 0 || index == count || load<u8>(item) != 0x7b) return 0
  clear()
  let found = false
  for (let next = enter(item); next != 0; ) {
    const slot = slotOf(next)
    const at = valueAt
    if (slot == escaped || (slot != unknown && !keep(slot, at))) return 0
    const behind = slot == members.result ? readFrame(at, 0) : skip(at)
    if (behind == 0) return 0
    found = found || slot == members.result
    next = following(behind)
  }
  const behind = ended
  if (!found) return 0
  const failed = load<u8>(hashed) == 1
  const hash = member(members.txHash)
  if (hash != 0) {
    fixed(hashed, hash, 32)
    must(memory.compare(hashed, hashes + <usize>index * 32, 32) == 0)
  }
  index++
  item = following(behind)
  must((index == count) == (item == 0))
  return isBroken ? 0 : failed ? 2 : 1
}
