/** SHA-256, of four messages at a time: each step computes one block of each, in the four lanes of a vector. */

const constants = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
])
const initial = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
])
/** Of each of the eight words of a state, the four lanes. */
const state = memory.data(8 * 16, 16)
/** Of the last sixteen words of the schedule, the four lanes. */
const schedule = memory.data(16 * 16, 16)

function rotated(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits))
}

function xor(a: v128, b: v128, c: v128): v128 {
  return v128.xor(v128.xor(a, b), c)
}

function first(e: v128, f: v128, g: v128, h: v128, word: v128): v128 {
  const mixed = i32x4.add(xor(rotated(e, 6), rotated(e, 11), rotated(e, 25)), v128.bitselect(f, g, e))
  return i32x4.add(i32x4.add(h, word), mixed)
}

function second(a: v128, b: v128, c: v128): v128 {
  return i32x4.add(xor(rotated(a, 2), rotated(a, 13), rotated(a, 22)), v128.bitselect(c, b, v128.xor(a, b)))
}

function at(index: usize): usize {
  return schedule + ((index & 15) << 4)
}

/** The word of the schedule at `index`, with its constant; behind the first sixteen words it is made of those before. */
function word(round: usize, index: usize): v128 {
  let found = v128.load(at(index))
  if (round > 0) {
    const near = v128.load(at(index + 1))
    const far = v128.load(at(index + 14))
    const low = xor(rotated(near, 7), rotated(near, 18), i32x4.shr_u(near, 3))
    const high = xor(rotated(far, 17), rotated(far, 19), i32x4.shr_u(far, 10))
    found = i32x4.add(i32x4.add(found, low), i32x4.add(v128.load(at(index + 9)), high))
    v128.store(at(index), found)
  }
  return i32x4.add(found, v128.load32_splat(constants + ((round + index) << 2)))
}

function bigEndian(from: usize): v128 {
  const bytes = v128.load(from)
  return i8x16.shuffle(bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}

/** Puts four words of each message into the schedule: the lanes of one word stand beside one another there. */
function transpose(a: usize, b: usize, c: usize, d: usize, to: usize): void {
  const x = bigEndian(a)
  const y = bigEndian(b)
  const z = bigEndian(c)
  const w = bigEndian(d)
  const lowOfFirst = v128.shuffle<u32>(x, y, 0, 4, 1, 5)
  const highOfFirst = v128.shuffle<u32>(x, y, 2, 6, 3, 7)
  const lowOfLast = v128.shuffle<u32>(z, w, 0, 4, 1, 5)
  const highOfLast = v128.shuffle<u32>(z, w, 2, 6, 3, 7)
  v128.store(to, v128.shuffle<u64>(lowOfFirst, lowOfLast, 0, 2))
  v128.store(to, v128.shuffle<u64>(lowOfFirst, lowOfLast, 1, 3), 16)
  v128.store(to, v128.shuffle<u64>(highOfFirst, highOfLast, 0, 2), 32)
  v128.store(to, v128.shuffle<u64>(highOfFirst, highOfLast, 1, 3), 48)
}

/** Takes in 64 bytes of each lane. */
export function compress(lane0: usize, lane1: usize, lane2: usize, lane3: usize): void {
  for (let offset: usize = 0; offset < 64; offset += 16) {
    transpose(lane0 + offset, lane1 + offset, lane2 + offset, lane3 + offset, schedule + offset * 4)
  }
  let a = v128.load(state)
  let b = v128.load(state, 16)
  let c = v128.load(state, 32)
  let d = v128.load(state, 48)
  let e = v128.load(state, 64)
  let f = v128.load(state, 80)
  let g = v128.load(state, 96)
  let h = v128.load(state, 112)
  let t: v128
  for (let round: usize = 0; round < 64; round += 16) {
    for (let index: usize = 0; index < 16; index += 8) {
      t = first(e, f, g, h, word(round, index))
      d = i32x4.add(d, t)
      h = i32x4.add(t, second(a, b, c))
      t = first(d, e, f, g, word(round, index + 1))
      c = i32x4.add(c, t)
      g = i32x4.add(t, second(h, a, b))
      t = first(c, d, e, f, word(round, index + 2))
      b = i32x4.add(b, t)
      f = i32x4.add(t, second(g, h, a))
      t = first(b, c, d, e, word(round, index + 3))
      a = i32x4.add(a, t)
      e = i32x4.add(t, second(f, g, h))
      t = first(a, b, c, d, word(round, index + 4))
      h = i32x4.add(h, t)
      d = i32x4.add(t, second(e, f, g))
      t = first(h, a, b, c, word(round, index + 5))
      g = i32x4.add(g, t)
      c = i32x4.add(t, second(d, e, f))
      t = first(g, h, a, b, word(round, index + 6))
      f = i32x4.add(f, t)
      b = i32x4.add(t, second(c, d, e))
      t = first(f, g, h, a, word(round, index + 7))
      e = i32x4.add(e, t)
      a = i32x4.add(t, second(b, c, d))
    }
  }
  v128.store(state, i32x4.add(a, v128.load(state)))
  v128.store(state, i32x4.add(b, v128.load(state, 16)), 16)
  v128.store(state, i32x4.add(c, v128.load(state, 32)), 32)
  v128.store(state, i32x4.add(d, v128.load(state, 48)), 48)
  v128.store(state, i32x4.add(e, v128.load(state, 64)), 64)
  v128.store(state, i32x4.add(f, v128.load(state, 80)), 80)
  v128.store(state, i32x4.add(g, v128.load(state, 96)), 96)
  v128.store(state, i32x4.add(h, v128.load(state, 112)), 112)
}

/** Begins a message in a lane. */
export function begin(lane: usize): void {
  for (let index: usize = 0; index < 8; index++) {
    store<u32>(state + (index << 4) + (lane << 2), load<u32>(initial + (index << 2)))
  }
}

/** Puts what a lane has come to, the hash of its message, to `to`, 32 bytes. */
export function end(lane: usize, to: usize): void {
  for (let index: usize = 0; index < 8; index++) {
    store<u32>(to + (index << 2), bswap<u32>(load<u32>(state + (index << 4) + (lane << 2))))
  }
}

/** Writes behind a message of `length` bytes at `from` what completes the last block, up to 72 bytes; how many blocks it has. */
export function pad(from: usize, length: usize): usize {
  const blocks = (length + 9 + 63) >> 6
  const last = from + (blocks << 6) - 8
  memory.fill(from + length, 0, last - from - length)
  store<u8>(from + length, 0x80)
  store<u64>(last, bswap<u64>((<u64>length) << 3))
  return blocks
}
