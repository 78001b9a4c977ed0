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
/** Of the first sixteen words of the schedule, the four lanes. */
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

/** Both differences, `a` from `b` and `b` from `c`, make the majority of the three; the first is the next round's second. */
function second(a: v128, b: v128, ab: v128, bc: v128): v128 {
  return i32x4.add(xor(rotated(a, 2), rotated(a, 13), rotated(a, 22)), v128.xor(b, v128.and(ab, bc)))
}

function low(word: v128): v128 {
  return xor(rotated(word, 7), rotated(word, 18), i32x4.shr_u(word, 3))
}

function high(word: v128): v128 {
  return xor(rotated(word, 17), rotated(word, 19), i32x4.shr_u(word, 10))
}

function sum(a: v128, b: v128, c: v128, d: v128): v128 {
  return i32x4.add(i32x4.add(a, b), i32x4.add(c, d))
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
  rounds()
}

/** Puts four hashes of 32 bytes each, which stand at `from`, to where their lanes have come to them. */
export function take(from: usize): void {
  transpose(from, from + 32, from + 64, from + 96, state)
  transpose(from + 16, from + 48, from + 80, from + 112, state + 64)
}

/** Begins a message in each lane, and takes in all of it: what the lane has come to, the hash of another one. */
export function hashAgain(): void {
  memory.copy(schedule, state, 8 * 16)
  v128.store(schedule, i32x4.splat(1 << 31), 8 * 16)
  for (let index: usize = 9; index < 15; index++) v128.store(schedule + (index << 4), i32x4.splat(0))
  v128.store(schedule, i32x4.splat(32 << 3), 15 * 16)
  beginAll()
  rounds()
}

/** Takes in the sixteen words of the schedule. */
function rounds(): void {
  let a = v128.load(state)
  let b = v128.load(state, 16)
  let c = v128.load(state, 32)
  let d = v128.load(state, 48)
  let e = v128.load(state, 64)
  let f = v128.load(state, 80)
  let g = v128.load(state, 96)
  let h = v128.load(state, 112)
  let t: v128
  let ab: v128
  let bc = v128.xor(b, c)
  let w0 = v128.load(schedule)
  let w1 = v128.load(schedule, 16)
  let w2 = v128.load(schedule, 32)
  let w3 = v128.load(schedule, 48)
  let w4 = v128.load(schedule, 64)
  let w5 = v128.load(schedule, 80)
  let w6 = v128.load(schedule, 96)
  let w7 = v128.load(schedule, 112)
  let w8 = v128.load(schedule, 128)
  let w9 = v128.load(schedule, 144)
  let w10 = v128.load(schedule, 160)
  let w11 = v128.load(schedule, 176)
  let w12 = v128.load(schedule, 192)
  let w13 = v128.load(schedule, 208)
  let w14 = v128.load(schedule, 224)
  let w15 = v128.load(schedule, 240)
  const last: usize = constants + 48 * 4
  // Sixteen rounds are written out, which saves an eighth of the time: each word is known by its place then.
  for (let round: usize = constants; round <= last; round += 16 * 4) {
    const goesOn = round < last
    t = first(e, f, g, h, i32x4.add(w0, v128.load32_splat(round)))
    d = i32x4.add(d, t)
    ab = v128.xor(a, b)
    h = i32x4.add(t, second(a, b, ab, bc))
    if (goesOn) w0 = sum(w0, low(w1), w9, high(w14))
    t = first(d, e, f, g, i32x4.add(w1, v128.load32_splat(round, 4)))
    c = i32x4.add(c, t)
    bc = v128.xor(h, a)
    g = i32x4.add(t, second(h, a, bc, ab))
    if (goesOn) w1 = sum(w1, low(w2), w10, high(w15))
    t = first(c, d, e, f, i32x4.add(w2, v128.load32_splat(round, 8)))
    b = i32x4.add(b, t)
    ab = v128.xor(g, h)
    f = i32x4.add(t, second(g, h, ab, bc))
    if (goesOn) w2 = sum(w2, low(w3), w11, high(w0))
    t = first(b, c, d, e, i32x4.add(w3, v128.load32_splat(round, 12)))
    a = i32x4.add(a, t)
    bc = v128.xor(f, g)
    e = i32x4.add(t, second(f, g, bc, ab))
    if (goesOn) w3 = sum(w3, low(w4), w12, high(w1))
    t = first(a, b, c, d, i32x4.add(w4, v128.load32_splat(round, 16)))
    h = i32x4.add(h, t)
    ab = v128.xor(e, f)
    d = i32x4.add(t, second(e, f, ab, bc))
    if (goesOn) w4 = sum(w4, low(w5), w13, high(w2))
    t = first(h, a, b, c, i32x4.add(w5, v128.load32_splat(round, 20)))
    g = i32x4.add(g, t)
    bc = v128.xor(d, e)
    c = i32x4.add(t, second(d, e, bc, ab))
    if (goesOn) w5 = sum(w5, low(w6), w14, high(w3))
    t = first(g, h, a, b, i32x4.add(w6, v128.load32_splat(round, 24)))
    f = i32x4.add(f, t)
    ab = v128.xor(c, d)
    b = i32x4.add(t, second(c, d, ab, bc))
    if (goesOn) w6 = sum(w6, low(w7), w15, high(w4))
    t = first(f, g, h, a, i32x4.add(w7, v128.load32_splat(round, 28)))
    e = i32x4.add(e, t)
    bc = v128.xor(b, c)
    a = i32x4.add(t, second(b, c, bc, ab))
    if (goesOn) w7 = sum(w7, low(w8), w0, high(w5))
    t = first(e, f, g, h, i32x4.add(w8, v128.load32_splat(round, 32)))
    d = i32x4.add(d, t)
    ab = v128.xor(a, b)
    h = i32x4.add(t, second(a, b, ab, bc))
    if (goesOn) w8 = sum(w8, low(w9), w1, high(w6))
    t = first(d, e, f, g, i32x4.add(w9, v128.load32_splat(round, 36)))
    c = i32x4.add(c, t)
    bc = v128.xor(h, a)
    g = i32x4.add(t, second(h, a, bc, ab))
    if (goesOn) w9 = sum(w9, low(w10), w2, high(w7))
    t = first(c, d, e, f, i32x4.add(w10, v128.load32_splat(round, 40)))
    b = i32x4.add(b, t)
    ab = v128.xor(g, h)
    f = i32x4.add(t, second(g, h, ab, bc))
    if (goesOn) w10 = sum(w10, low(w11), w3, high(w8))
    t = first(b, c, d, e, i32x4.add(w11, v128.load32_splat(round, 44)))
    a = i32x4.add(a, t)
    bc = v128.xor(f, g)
    e = i32x4.add(t, second(f, g, bc, ab))
    if (goesOn) w11 = sum(w11, low(w12), w4, high(w9))
    t = first(a, b, c, d, i32x4.add(w12, v128.load32_splat(round, 48)))
    h = i32x4.add(h, t)
    ab = v128.xor(e, f)
    d = i32x4.add(t, second(e, f, ab, bc))
    if (goesOn) w12 = sum(w12, low(w13), w5, high(w10))
    t = first(h, a, b, c, i32x4.add(w13, v128.load32_splat(round, 52)))
    g = i32x4.add(g, t)
    bc = v128.xor(d, e)
    c = i32x4.add(t, second(d, e, bc, ab))
    if (goesOn) w13 = sum(w13, low(w14), w6, high(w11))
    t = first(g, h, a, b, i32x4.add(w14, v128.load32_splat(round, 56)))
    f = i32x4.add(f, t)
    ab = v128.xor(c, d)
    b = i32x4.add(t, second(c, d, ab, bc))
    if (goesOn) w14 = sum(w14, low(w15), w7, high(w12))
    t = first(f, g, h, a, i32x4.add(w15, v128.load32_splat(round, 60)))
    e = i32x4.add(e, t)
    bc = v128.xor(b, c)
    a = i32x4.add(t, second(b, c, bc, ab))
    if (goesOn) w15 = sum(w15, low(w0), w8, high(w13))
  }
  add(a, b, c, d, e, f, g, h)
}

/** Of the block that completes a message of 64 bytes, the 64 words with their rounds' constants; and whether these are there. */
const completing = memory.data(64 * 4)
let isReady = false

/** The words of a block are the same for every message of a length: the schedule is computed once. */
function makeReady(): void {
  store<u32>(completing, 1 << 31)
  store<u32>(completing, 64 << 3, 15 * 4)
  for (let at = completing + 16 * 4; at < completing + 64 * 4; at += 4) {
    const early = load<u32>(at - 15 * 4)
    const late = load<u32>(at - 2 * 4)
    const low = rotr<u32>(early, 7) ^ rotr<u32>(early, 18) ^ (early >> 3)
    const high = rotr<u32>(late, 17) ^ rotr<u32>(late, 19) ^ (late >> 10)
    store<u32>(at, load<u32>(at - 16 * 4) + low + load<u32>(at - 7 * 4) + high)
  }
  for (let offset: usize = 0; offset < 64 * 4; offset += 4) {
    store<u32>(completing + offset, load<u32>(completing + offset) + load<u32>(constants + offset))
  }
  isReady = true
}

/** Takes in, in each lane, the block that completes a message of 64 bytes. */
export function complete64(): void {
  if (!isReady) makeReady()
  let a = v128.load(state)
  let b = v128.load(state, 16)
  let c = v128.load(state, 32)
  let d = v128.load(state, 48)
  let e = v128.load(state, 64)
  let f = v128.load(state, 80)
  let g = v128.load(state, 96)
  let h = v128.load(state, 112)
  let t: v128
  let ab: v128
  let bc = v128.xor(b, c)
  for (let round = completing; round < completing + 64 * 4; round += 8 * 4) {
    ab = v128.xor(a, b)
    t = first(e, f, g, h, v128.load32_splat(round))
    d = i32x4.add(d, t)
    h = i32x4.add(t, second(a, b, ab, bc))
    bc = v128.xor(h, a)
    t = first(d, e, f, g, v128.load32_splat(round, 4))
    c = i32x4.add(c, t)
    g = i32x4.add(t, second(h, a, bc, ab))
    ab = v128.xor(g, h)
    t = first(c, d, e, f, v128.load32_splat(round, 8))
    b = i32x4.add(b, t)
    f = i32x4.add(t, second(g, h, ab, bc))
    bc = v128.xor(f, g)
    t = first(b, c, d, e, v128.load32_splat(round, 12))
    a = i32x4.add(a, t)
    e = i32x4.add(t, second(f, g, bc, ab))
    ab = v128.xor(e, f)
    t = first(a, b, c, d, v128.load32_splat(round, 16))
    h = i32x4.add(h, t)
    d = i32x4.add(t, second(e, f, ab, bc))
    bc = v128.xor(d, e)
    t = first(h, a, b, c, v128.load32_splat(round, 20))
    g = i32x4.add(g, t)
    c = i32x4.add(t, second(d, e, bc, ab))
    ab = v128.xor(c, d)
    t = first(g, h, a, b, v128.load32_splat(round, 24))
    f = i32x4.add(f, t)
    b = i32x4.add(t, second(c, d, ab, bc))
    bc = v128.xor(b, c)
    t = first(f, g, h, a, v128.load32_splat(round, 28))
    e = i32x4.add(e, t)
    a = i32x4.add(t, second(b, c, bc, ab))
  }
  add(a, b, c, d, e, f, g, h)
}

/** Adds what the rounds have come to, to what they began with. */
function add(a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128): void {
  v128.store(state, i32x4.add(a, v128.load(state)))
  v128.store(state, i32x4.add(b, v128.load(state, 16)), 16)
  v128.store(state, i32x4.add(c, v128.load(state, 32)), 32)
  v128.store(state, i32x4.add(d, v128.load(state, 48)), 48)
  v128.store(state, i32x4.add(e, v128.load(state, 64)), 64)
  v128.store(state, i32x4.add(f, v128.load(state, 80)), 80)
  v128.store(state, i32x4.add(g, v128.load(state, 96)), 96)
  v128.store(state, i32x4.add(h, v128.load(state, 112)), 112)
}

/** Begins a message in every lane. */
export function beginAll(): void {
  for (let index: usize = 0; index < 8; index++) {
    v128.store(state + (index << 4), v128.load32_splat(initial + (index << 2)))
  }
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
  const end = from + length
  for (let offset: usize = 0; offset < 64; offset += 16) v128.store(end + offset, i32x4.splat(0))
  store<u8>(end, 0x80)
  store<u64>(last, bswap<u64>((<u64>length) << 3))
  return blocks
}
