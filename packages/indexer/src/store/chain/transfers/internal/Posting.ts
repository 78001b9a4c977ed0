/**
 * Postings: where in a log an address is named. One is twelve bytes, big-endian so that bytes sort as they mean: a
 * 40-bit hash of the address, then the 56-bit position. A hash that two addresses share costs its reader a skip.
 */

export const width = 12

/** Postings as they came from the store. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Positions count transfers within a block in the low 20 bits, blocks above. */
export const perBlock = 2 ** 20

export const positionOf = (height: number, index: number): number => height * perBlock + index

export const heightOf = (position: number): number => Math.floor(position / perBlock)

/** A hash of an address: a whole number of 40 bits. */
export const hash = (address: Uint8Array): number => {
  let a = 0x1234567 ^ address.length
  let b = 0x9e3779b1
  for (let i = 0; i < address.length; i += 4) {
    const word = address[i]! | (address[i + 1]! << 8) | (address[i + 2]! << 16) | (address[i + 3]! << 24)
    a = Math.imul(a ^ word, 0x85ebca6b)
    a ^= a >>> 13
    b = Math.imul(b ^ word ^ (a >>> 7), 0xc2b2ae35)
    b ^= b >>> 16
  }
  a = Math.imul(a ^ (a >>> 16) ^ b, 0x2c1b3c6d)
  b = Math.imul(b ^ (b >>> 15) ^ a, 0x297a2d39)
  return ((a ^ (a >>> 15)) >>> 0) * 0x100 + ((b ^ (b >>> 13)) & 0xff)
}

const two32 = 2 ** 32

/** Writes a posting at byte `at`. */
export const write = (bytes: Buffer, at: number, hash: number, position: number): void => {
  const high = Math.floor(hash / 0x100)
  const upper = Math.floor(position / two32)
  const lower = position >>> 0
  bytes[at] = high >>> 24
  bytes[at + 1] = high >>> 16
  bytes[at + 2] = high >>> 8
  bytes[at + 3] = high
  bytes[at + 4] = hash
  bytes[at + 5] = upper >>> 16
  bytes[at + 6] = upper >>> 8
  bytes[at + 7] = upper
  bytes[at + 8] = lower >>> 24
  bytes[at + 9] = lower >>> 16
  bytes[at + 10] = lower >>> 8
  bytes[at + 11] = lower
}

/** A posting as the key it sorts by. */
export const keyOf = (hash: number, position: number): Buffer => {
  const key = Buffer.allocUnsafe(width)
  write(key, 0, hash, position)
  return key
}

export const readPosition = (bytes: Buffer, at: number): number =>
  bytes.readUIntBE(at + 5, 3) * two32 + bytes.readUInt32BE(at + 8)

/** Whether a posting has a hash. */
export const isOf = (bytes: Buffer, at: number, hash: number): boolean =>
  bytes[at + 4] === (hash & 0xff) &&
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) === ((hash / 0x100) | 0)

/** Words in a posting. */
export const words = 3

/** A copy of postings in words of four bytes, in the machine's own order. */
export const toWords = (postings: ReadonlyArray<Uint8Array>): Uint32Array => {
  const bytes = new Uint8Array(postings.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const some of postings) {
    bytes.set(some, end)
    end += some.length
  }
  return new Uint32Array(bytes.buffer)
}

/** A word that {@link toWords} made, as the number by which it sorts. */
export const order = (word: number): number =>
  ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0

/**
 * Sorts postings that are already in the order of their positions: by hash, then position. At most 2^24 of them.
 */
export const sort = (postings: Uint32Array): Buffer => {
  const count = postings.length / words
  const keys = new BigUint64Array(count)
  const halves = new Uint32Array(keys.buffer)
  // The high half of a 64-bit key is the hash's upper bytes, the low half its last byte and the posting's number.
  for (let i = 0, at = 0; i < count; i++, at += words) {
    halves[2 * i + 1] = order(postings[at]!)
    halves[2 * i] = ((postings[at + 1]! & 0xff) << 24) | i
  }
  keys.sort()
  const sorted = new Uint32Array(postings.length)
  for (let i = 0, at = 0; i < count; i++, at += words) {
    const from = (halves[2 * i]! & 0xffffff) * words
    sorted[at] = postings[from]!
    sorted[at + 1] = postings[from + 1]!
    sorted[at + 2] = postings[from + 2]!
  }
  return Buffer.from(sorted.buffer)
}

/** How many postings of a sorted page come before `key`. */
export const countBefore = (page: Buffer, key: Buffer): number => {
  let low = 0
  let high = page.length / width
  while (low < high) {
    const middle = (low + high) >>> 1
    if (page.compare(key, 0, width, middle * width, (middle + 1) * width) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** How many postings of a sorted page come before `key` or are `key` itself. */
export const countUpTo = (page: Buffer, key: Buffer): number => {
  const before = countBefore(page, key)
  const at = before * width
  return at < page.length && page.compare(key, 0, width, at, at + width) === 0 ? before + 1 : before
}
