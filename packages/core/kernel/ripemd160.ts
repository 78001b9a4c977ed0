/** RIPEMD-160 of messages of 32 bytes, four at a time, one in each lane of a vector. */

const initial = memory.data<u32>([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0])
/** Of both lines, which run beside each other: the word of each step, how far the step rotates, and the constants. */
const words = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8, 3, 10, 14,
  4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12, 1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2, 4, 0, 5, 9, 7, 12, 2,
  10, 14, 1, 3, 8, 11, 6, 15, 13
])
const otherWords = memory.data<u8>([
  5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2, 15, 5, 1,
  3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13, 8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14, 12, 15, 10, 4, 1, 5,
  8, 7, 6, 2, 13, 14, 0, 3, 9, 11
])
const shifts = memory.data<u8>([
  11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8, 7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12, 11,
  13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5, 11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12, 9, 15, 5,
  11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6
])
const otherShifts = memory.data<u8>([
  8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6, 9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11, 9, 7,
  15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5, 15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8, 8, 5, 12, 9,
  12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11
])
const constants = memory.data<u32>([0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e])
const otherConstants = memory.data<u32>([0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0])

const rounds: u32 = 5
const stepsOfRound: u32 = 16
/** Of the sixteen words of a block, the four lanes. */
const block = memory.data(16 * 16, 16)
const hashSize: usize = 20

function rotated(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits))
}

function mixed(round: u32, x: v128, y: v128, z: v128): v128 {
  if (round === 0) return v128.xor(v128.xor(x, y), z)
  if (round === 1) return v128.bitselect(y, z, x)
  if (round === 2) return v128.xor(v128.or(x, v128.not(y)), z)
  if (round === 3) return v128.bitselect(x, y, z)
  return v128.xor(x, v128.or(y, v128.not(z)))
}

/** Puts four messages into the block, each with what completes a message of 32 bytes. */
function fill(a: usize, b: usize, c: usize, d: usize): void {
  for (let word: usize = 0; word < 8; word++) {
    const to = block + (word << 4)
    store<u32>(to, load<u32>(a + (word << 2)))
    store<u32>(to, load<u32>(b + (word << 2)), 4)
    store<u32>(to, load<u32>(c + (word << 2)), 8)
    store<u32>(to, load<u32>(d + (word << 2)), 12)
  }
  memory.fill(block + 8 * 16, 0, 8 * 16)
  v128.store(block, i32x4.splat(0x80), 8 * 16)
  v128.store(block, i32x4.splat(32 << 3), 14 * 16)
}

/** Hashes `count` messages at `from`, 32 bytes each, and puts their hashes to `to`, 20 bytes each, with room for three more. */
export function hash(from: usize, count: u32, to: usize): void {
  if (count === 0) return
  const h0 = v128.load32_splat(initial)
  const h1 = v128.load32_splat(initial, 4)
  const h2 = v128.load32_splat(initial, 8)
  const h3 = v128.load32_splat(initial, 12)
  const h4 = v128.load32_splat(initial, 16)
  const last = from + ((<usize>count - 1) << 5)
  for (let message = from; message <= last; message += 4 << 5, to += 4 * hashSize) {
    fill(message, min(message + 32, last), min(message + 64, last), min(message + 96, last))
    let a = h0
    let b = h1
    let c = h2
    let d = h3
    let e = h4
    let v = h0
    let w = h1
    let x = h2
    let y = h3
    let z = h4
    for (let round: u32 = 0, step: usize = 0; round < rounds; round++) {
      const constant = v128.load32_splat(constants + (round << 2))
      const other = v128.load32_splat(otherConstants + (round << 2))
      for (const end = step + stepsOfRound; step < end; step++) {
        let t = i32x4.add(i32x4.add(a, mixed(round, b, c, d)), constant)
        t = i32x4.add(t, v128.load(block + ((<usize>load<u8>(words + step)) << 4)))
        t = i32x4.add(rotated(t, load<u8>(shifts + step)), e)
        a = e
        e = d
        d = rotated(c, 10)
        c = b
        b = t
        t = i32x4.add(i32x4.add(v, mixed(rounds - 1 - round, w, x, y)), other)
        t = i32x4.add(t, v128.load(block + ((<usize>load<u8>(otherWords + step)) << 4)))
        t = i32x4.add(rotated(t, load<u8>(otherShifts + step)), z)
        v = z
        z = y
        y = rotated(x, 10)
        x = w
        w = t
      }
    }
    put(to, i32x4.add(i32x4.add(h1, c), y))
    put(to + 4, i32x4.add(i32x4.add(h2, d), z))
    put(to + 8, i32x4.add(i32x4.add(h3, e), v))
    put(to + 12, i32x4.add(i32x4.add(h4, a), w))
    put(to + 16, i32x4.add(i32x4.add(h0, b), x))
  }
}

/** Puts a word of four hashes to where it belongs in each of them. */
function put(to: usize, word: v128): void {
  v128.store32_lane(to, word, 0)
  v128.store32_lane(to + hashSize, word, 1)
  v128.store32_lane(to + 2 * hashSize, word, 2)
  v128.store32_lane(to + 3 * hashSize, word, 3)
}
