/**
 * Numbers of the field of secp256k1, below 2^256 but for a little, each in nine limbs of 29 bits, the lowest first: 36 bytes.
 * A limb may have a little more than 29 bits, and a number that is less than the prime has another form, with the prime added,
 * until {@link write}. What is done takes a time that may depend on the numbers: for public ones only.
 */

const bits: u64 = 29
const mask: u64 = (1 << 29) - 1
const limbs: usize = 9
/** Bits of the highest limb in a number of 256. */
const highest: u64 = 24
const belowHighest: u64 = (1 << 24) - 1
/** Bytes of a number. */
export const size: usize = 36

/** Twice the prime, 2^256 − 2^32 − 977. */
const twicePrime = memory.data<u32>([
  0x1ffff85e, 0x1fffffef, 0x1fffffff, 0x1fffffff, 0x1fffffff, 0x1fffffff, 0x1fffffff, 0x1fffffff, 0x01ffffff
])

function limb(at: usize, index: usize): u64 {
  return load<u32>(at + (index << 2))
}

function put(at: usize, index: usize, value: u64): void {
  store<u32>(at + (index << 2), <u32>value)
}

export function copy(to: usize, from: usize): void {
  memory.copy(to, from, size)
}

/** Puts a − b to `to`. */
export function sub(to: usize, a: usize, b: usize): void {
  let t: i64 = 0
  for (let index: usize = 0; index < limbs; index++) {
    t += <i64>(limb(a, index) + limb(twicePrime, index)) - <i64>limb(b, index)
    put(to, index, <u64>t & mask)
    t >>= bits
  }
  // 2^256 is as good as 2^32 + 977.
  const over = limb(to, 8) >> highest
  put(to, 8, limb(to, 8) & belowHighest)
  put(to, 0, limb(to, 0) + over * 977)
  put(to, 1, limb(to, 1) + (over << 3))
}

/** Puts a × b to `to`. */
export function mul(to: usize, a: usize, b: usize): void {
  const a0 = limb(a, 0)
  const a1 = limb(a, 1)
  const a2 = limb(a, 2)
  const a3 = limb(a, 3)
  const a4 = limb(a, 4)
  const a5 = limb(a, 5)
  const a6 = limb(a, 6)
  const a7 = limb(a, 7)
  const a8 = limb(a, 8)
  const b0 = limb(b, 0)
  const b1 = limb(b, 1)
  const b2 = limb(b, 2)
  const b3 = limb(b, 3)
  const b4 = limb(b, 4)
  const b5 = limb(b, 5)
  const b6 = limb(b, 6)
  const b7 = limb(b, 7)
  const b8 = limb(b, 8)
  let t = a0 * b0
  const c0 = t & mask
  t >>= bits
  t += a0 * b1 + a1 * b0
  const c1 = t & mask
  t >>= bits
  t += a0 * b2 + a1 * b1 + a2 * b0
  const c2 = t & mask
  t >>= bits
  t += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
  const c3 = t & mask
  t >>= bits
  t += a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0
  const c4 = t & mask
  t >>= bits
  t += a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0
  const c5 = t & mask
  t >>= bits
  t += a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0
  const c6 = t & mask
  t >>= bits
  t += a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0
  const c7 = t & mask
  t >>= bits
  t += a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0
  const c8 = t & mask
  t >>= bits
  t += a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1
  const c9 = t & mask
  t >>= bits
  t += a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2
  const c10 = t & mask
  t >>= bits
  t += a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3
  const c11 = t & mask
  t >>= bits
  t += a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4
  const c12 = t & mask
  t >>= bits
  t += a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5
  const c13 = t & mask
  t >>= bits
  t += a6 * b8 + a7 * b7 + a8 * b6
  const c14 = t & mask
  t >>= bits
  t += a7 * b8 + a8 * b7
  const c15 = t & mask
  t >>= bits
  t += a8 * b8
  const c16 = t & mask
  t >>= bits
  // 2^261 is as good as 2^37 + 31264; `t` is the limb behind the last one.
  const top = t
  t = c0 + c9 * 31264
  let r0 = t & mask
  t >>= bits
  t += c1 + c10 * 31264 + (c9 << 8)
  let r1 = t & mask
  t >>= bits
  t += c2 + c11 * 31264 + (c10 << 8)
  let r2 = t & mask
  t >>= bits
  t += c3 + c12 * 31264 + (c11 << 8)
  const r3 = t & mask
  t >>= bits
  t += c4 + c13 * 31264 + (c12 << 8)
  const r4 = t & mask
  t >>= bits
  t += c5 + c14 * 31264 + (c13 << 8)
  const r5 = t & mask
  t >>= bits
  t += c6 + c15 * 31264 + (c14 << 8)
  const r6 = t & mask
  t >>= bits
  t += c7 + c16 * 31264 + (c15 << 8)
  const r7 = t & mask
  t >>= bits
  t += c8 + top * 31264 + (c16 << 8)
  const r8 = t & mask
  t >>= bits
  t += top << 8
  const over = r8 >> highest
  r0 += t * 31264 + over * 977
  r1 += (t << 8) + (over << 3) + (r0 >> bits)
  r2 += r1 >> bits
  put(to, 0, r0 & mask)
  put(to, 1, r1 & mask)
  put(to, 2, r2)
  put(to, 3, r3)
  put(to, 4, r4)
  put(to, 5, r5)
  put(to, 6, r6)
  put(to, 7, r7)
  put(to, 8, r8 & belowHighest)
}

/** Squares a number so many times. */
function squared(to: usize, a: usize, times: i32): void {
  mul(to, a, a)
  for (; times > 1; times--) mul(to, to, to)
}

const x2 = memory.data(36)
const x3 = memory.data(36)
const x6 = memory.data(36)
const x9 = memory.data(36)
const x11 = memory.data(36)
const x22 = memory.data(36)
const x44 = memory.data(36)
const x88 = memory.data(36)
const x176 = memory.data(36)
const x220 = memory.data(36)
const x223 = memory.data(36)
const power = memory.data(36)

/** Puts `a` to a power of two, times `b`, to `to`. */
function shifted(to: usize, a: usize, times: i32, b: usize): void {
  squared(power, a, times)
  mul(to, power, b)
}

/** Puts 1 / a to `to`, another place: a to the power of the prime less 2, whose ones stand in runs of 223, 22, 1, 2 and 1. */
export function invert(to: usize, a: usize): void {
  shifted(x2, a, 1, a)
  shifted(x3, x2, 1, a)
  shifted(x6, x3, 3, x3)
  shifted(x9, x6, 3, x3)
  shifted(x11, x9, 2, x2)
  shifted(x22, x11, 11, x11)
  shifted(x44, x22, 22, x22)
  shifted(x88, x44, 44, x44)
  shifted(x176, x88, 88, x88)
  shifted(x220, x176, 44, x44)
  shifted(x223, x220, 3, x3)
  shifted(to, x223, 23, x22)
  shifted(to, to, 5, a)
  shifted(to, to, 3, x2)
  shifted(to, to, 2, a)
}

/** Gives a number the one form that is below the prime. */
function normalize(at: usize): void {
  let over: u64 = 0
  // What the first round carries into the highest limb is little.
  for (let round = 0; round < 2; round++) {
    over = limb(at, 8) >> highest
    put(at, 8, limb(at, 8) & belowHighest)
    let t: u64 = over * 977
    for (let index: usize = 0; index < limbs; index++) {
      t += limb(at, index) + (index === 1 ? over << 3 : 0)
      put(at, index, t & mask)
      t >>= bits
    }
  }
  // With 2^32 + 977 the prime and what is above it reach 2^256.
  let t: u64 = 977
  for (let index: usize = 0; index < limbs; index++) {
    t += limb(at, index) + (index === 1 ? 8 : 0)
    put(power, index, t & mask)
    t >>= bits
  }
  if (limb(power, 8) >> highest === 0) return
  put(power, 8, limb(power, 8) & belowHighest)
  copy(at, power)
}

export function isZero(at: usize): bool {
  normalize(at)
  let any: u64 = 0
  for (let index: usize = 0; index < limbs; index++) any |= limb(at, index)
  return any === 0
}

/** Reads 32 bytes, the highest first. */
export function read(from: usize, to: usize): void {
  let held: u64 = 0
  let count: u64 = 0
  let index: usize = 0
  for (let byte: usize = 32; byte > 0; byte -= 4) {
    held |= (<u64>bswap<u32>(load<u32>(from + byte - 4))) << count
    count += 32
    for (; count >= bits; count -= bits, held >>= bits) put(to, index++, held & mask)
  }
  put(to, index, held)
}

/** Writes what {@link read} reads. */
export function write(from: usize, to: usize): void {
  normalize(from)
  let held: u64 = 0
  let count: u64 = 0
  let byte: usize = 32
  for (let index: usize = 0; index < limbs; index++) {
    held |= limb(from, index) << count
    for (count += bits; count >= 32 && byte > 0; count -= 32, held >>= 32) {
      byte -= 4
      store<u32>(to + byte, bswap<u32>(<u32>held))
    }
  }
}
