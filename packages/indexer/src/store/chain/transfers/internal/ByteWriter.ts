/** Writes the numbers and bytes of a chunk. */

/** Bytes that are written one after another; there is room for them. */
export class ByteWriter {
  bytes: Uint8Array
  length = 0

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size)
  }

  get written() {
    return this.bytes.subarray(0, this.length)
  }
  reserve(size: number) {
    if (this.length + size <= this.bytes.length) return
    const larger = Buffer.allocUnsafe((this.length + size) * 2)
    larger.set(this.written)
    this.bytes = larger
  }
  u8(value: number) {
    this.bytes[this.length++] = value
  }
  /** A whole number that is not negative, seven bits a byte. */
  varint(value: number) {
    let rest = value
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.bytes[this.length++] = rest
  }
  /** A difference that may be negative. */
  signed(value: number) {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }
  raw(value: Uint8Array) {
    this.bytes.set(value, this.length)
    this.length += value.length
  }
}

const max64 = 2n ** 64n

/** A number that is not negative as bytes, the lowest first. */
export class BigBytes {
  readonly #words = new BigUint64Array(32)
  readonly #bytes = new Uint8Array(this.#words.buffer)
  #length = 0

  /** Takes a number; at least the bytes that it takes in a chunk. */
  set(value: bigint): number {
    let count = 0
    let rest = value
    // What is more than a word has room for stays away.
    for (; rest >= max64; rest >>= 64n) this.#words[count++] = rest
    this.#words[count++] = rest
    this.#length = 8 * count
    return 1 + 8 * count
  }

  /** Writes the bytes without leading zeros, after their length. */
  writeTo(writer: ByteWriter) {
    let length = this.#length
    while (length > 0 && this.#bytes[length - 1] === 0) length--
    writer.u8(length)
    for (let index = 0; index < length; index++) writer.u8(this.#bytes[index]!)
  }
}
