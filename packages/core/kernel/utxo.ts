/**
 * The kernel of UTXO chains: hexadecimal digits of raw blocks; double SHA-256 of many messages, by which transactions and
 * the nodes of their tree are named; and the hashes of keys and scripts, which locking scripts hold.
 */
import * as hex from "./hex"
import { begin, reach } from "./memory"
import * as ripemd160 from "./ripemd160"
import * as sha256 from "./sha256"

export { begin, reach }

/** Puts the bytes of twice as many digits at `digits` to `to`; whether all of them are digits. */
export function decode(digits: usize, length: usize, to: usize): bool {
  hex.whole()
  hex.decode(to, digits, length)
  return !hex.isBroken
}

const lanes: usize = 4
/** Of each lane: where the next block is, how many are left, and the number of the message. */
const positions = memory.data(4 * 4)
const left = memory.data(4 * 4)
const messages = memory.data(4 * 4)

/** Slices of a message. */
const slices: usize = 3

/** Gathers a message, whose slices are numbers of 32 bits in pairs, from and to; its blocks. Writes up to 15 bytes behind each slice. */
function gather(bytes: usize, slice: usize, to: usize): usize {
  const first = to
  for (let end = slice + slices * 8; slice < end; slice += 8) {
    const from = bytes + load<u32>(slice)
    const size = load<u32>(slice, 4) - load<u32>(slice)
    for (let at: usize = 0; at < size; at += 16) v128.store(to + at, v128.load(from + at))
    to += size
  }
  return sha256.pad(first, to - first)
}

/**
 * Hashes `count` messages: each is made of three slices of `bytes`, which `table` names, and its hash is put to `to`, 32 bytes
 * each. `room`: for each of four lanes `size` bytes, which the longest message and its padding, 72 bytes, fit into.
 */
export function hash(bytes: usize, table: usize, count: u32, to: usize, room: usize, size: usize): void {
  let next: u32 = 0
  let busy = 0
  for (let lane: usize = 0; lane < lanes; lane++) {
    store<u32>(positions + (lane << 2), room + lane * size)
    store<u32>(left + (lane << 2), 0)
    if (next < count) {
      start(lane, room + lane * size, gather(bytes, table + next * slices * 8, room + lane * size), next)
      next++
      busy++
    }
  }
  while (busy > 0) {
    sha256.compress(load<u32>(positions), load<u32>(positions, 4), load<u32>(positions, 8), load<u32>(positions, 12))
    for (let lane: usize = 0; lane < lanes; lane++) {
      const blocks = load<u32>(left + (lane << 2))
      if (blocks === 0) continue
      store<u32>(left + (lane << 2), blocks - 1)
      store<u32>(positions + (lane << 2), load<u32>(positions + (lane << 2)) + 64)
      if (blocks > 1) continue
      sha256.end(lane, to + ((<usize>load<u32>(messages + (lane << 2))) << 5))
      const own = room + lane * size
      store<u32>(positions + (lane << 2), own)
      if (next < count) {
        start(lane, own, gather(bytes, table + next * slices * 8, own), next)
        next++
      } else busy--
    }
  }
}

/** Begins the message of this number in a lane, in blocks that stand at `from`. */
function start(lane: usize, from: usize, blocks: usize, message: u32): void {
  sha256.begin(lane)
  store<u32>(positions + (lane << 2), from)
  store<u32>(left + (lane << 2), blocks)
  store<u32>(messages + (lane << 2), message)
}

/** Puts the hashes of the first lanes to `to`, 32 bytes each, up to `end`; where the next one is put. */
function put(to: usize, end: usize): usize {
  for (let lane: usize = 0; lane < lanes && to < end; lane++, to += 32) sha256.end(lane, to)
  return to
}

/** Hashes `count` pairs of hashes at `from`, 64 bytes each, and puts their hashes to `to`, 32 bytes each: it may be the same place. */
export function pairs(from: usize, count: u32, to: usize): void {
  if (count === 0) return
  const last = from + ((<usize>count - 1) << 6)
  const end = to + ((<usize>count) << 5)
  for (let pair = from; to < end; pair += lanes << 6) {
    sha256.beginAll()
    sha256.compress(pair, min(pair + 64, last), min(pair + 128, last), min(pair + 192, last))
    sha256.complete64()
    sha256.hashAgain()
    to = put(to, end)
  }
}

/** Hashes `count` hashes at `from` once more with SHA-256, and puts what comes of them to `to`, 32 bytes each: it may be the same place. */
export function again(from: usize, count: u32, to: usize): void {
  const end = to + ((<usize>count) << 5)
  for (; to < end; from += lanes << 5) {
    sha256.take(from)
    sha256.hashAgain()
    to = put(to, end)
  }
}

/** Hashes `count` hashes at `from`, 32 bytes each, with RIPEMD-160, and puts what comes of them to `to`: 20 bytes each, and 60 more. */
export function ripemd(from: usize, count: u32, to: usize): void {
  ripemd160.hash(from, count, to)
}
