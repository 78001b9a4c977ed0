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
export const write = (view: DataView, at: number, hash: number, position: number): void => {
  view.setUint32(at, hash / 0x100)
  view.setUint32(at + 4, (hash << 24) | (position / two32))
  view.setUint32(at + 8, position)
}

/** A posting as the key it sorts by. */
export const keyOf = (hash: number, position: number): Buffer => {
  const key = new ArrayBuffer(width)
  write(new DataView(key), 0, hash, position)
  return Buffer.from(key)
}

export const readPosition = (bytes: Buffer, at: number): number =>
  bytes.readUIntBE(at + 5, 3) * two32 + bytes.readUInt32BE(at + 8)

/** Whether a posting has a hash. */
export const isOf = (bytes: Buffer, at: number, hash: number): boolean =>
  bytes[at + 4] === (hash & 0xff) &&
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) === ((hash / 0x100) | 0)

/** Words of a posting where postings are numbers of 32 bits, which sort as the bytes do. */
export const words = 3

/** Postings as words. */
export const toWords = (postings: ReadonlyArray<Uint8Array>): Uint32Array => {
  const all = new Uint32Array(postings.reduce((sum, { length }) => sum + length, 0) / Uint32Array.BYTES_PER_ELEMENT)
  let end = 0
  for (const bytes of postings) {
    for (let at = 0; at < bytes.length; at += 4) {
      all[end++] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    }
  }
  return all
}

/** Of the posting that begins at a word. */
export const hashAt = (postings: Uint32Array, at: number): number => postings[at]! * 0x100 + (postings[at + 1]! >>> 24)

/** Of the posting that begins at a word. */
export const positionAt = (postings: Uint32Array, at: number): number =>
  (postings[at + 1]! & 0xff_ffff) * two32 + postings[at + 2]!

/**
 * Sorts postings that are already in the order of their positions: by hash, then position. At most 2^24 of them.
 */
export const sort = (postings: Uint32Array): Uint32Array => {
  const count = postings.length / words
  const keys = new BigUint64Array(count)
  const halves = new Uint32Array(keys.buffer)
  // The high half of a 64-bit key is the hash's upper bytes, the low half its last byte and the posting's number.
  for (let i = 0, at = 0; i < count; i++, at += words) {
    halves[2 * i + 1] = postings[at]!
    halves[2 * i] = (postings[at + 1]! & 0xff00_0000) | i
  }
  keys.sort()
  const sorted = new Uint32Array(postings.length)
  for (let i = 0, at = 0; i < count; i++, at += words) {
    const from = (halves[2 * i]! & 0xff_ffff) * words
    sorted[at] = postings[from]!
    sorted[at + 1] = postings[from + 1]!
    sorted[at + 2] = postings[from + 2]!
  }
  return sorted
}

/** How many of sorted postings come before that of a hash and a position. */
export const countBefore = (postings: Uint32Array, hash: number, position: number): number => {
  let low = 0
  let high = postings.length / words
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = hashAt(postings, middle * words)
    if (other < hash || (other === hash && positionAt(postings, middle * words) < position)) low = middle + 1
    else high = middle
  }
  return low
}
