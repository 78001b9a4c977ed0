/** Reading the wire format of Bitcoin and its relatives from left to right. Throws `Malformed` at the end of the bytes. */
import { Malformed } from "./Malformed.ts"

export class RawBytes {
  readonly bytes: Buffer
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Moves past `length` bytes and says where they begin. */
  skip(length: number): number {
    const from = this.at
    if (length > this.bytes.length - from) throw new Malformed("the raw block ends early")
    this.at = from + length
    return from
  }

  take(length: number): Buffer {
    const from = this.skip(length)
    return this.bytes.subarray(from, this.at)
  }

  uint32(): number {
    return this.bytes.readUInt32LE(this.skip(4))
  }

  uint64(): bigint {
    return this.bytes.readBigUInt64LE(this.skip(8))
  }

  /** Bitcoin's CompactSize. Anything of this length is at least a byte, so a length past the end is refused here. */
  size(): number {
    const first = this.bytes[this.skip(1)]!
    const size =
      first < 0xfd
        ? first
        : first === 0xfd
          ? this.bytes.readUInt16LE(this.skip(2))
          : first === 0xfe
            ? this.uint32()
            : Number(this.uint64())
    if (size > this.bytes.length - this.at) throw new Malformed("the raw block ends early")
    return size
  }

  /** Moves past a number of items of one length. */
  skipMany(length: number): number {
    const items = this.size()
    this.skip(items * length)
    return items
  }

  /** A hash in the order in which hashes are written: reversed. */
  hash(): Uint8Array {
    return written(this.take(32))
  }
}

/** A hash as it is written from the hash as it is computed. */
export const written = (hash: Uint8Array): Uint8Array => new Uint8Array(hash).reverse()
