/** Reading the wire format of Bitcoin and its relatives from left to right. Throws `Malformed` at the end of the bytes. */
import { Malformed } from "./Malformed.ts"

/** Bytes that are copied one by one sooner than by a call. */
const fewBytes = 64

const nothing = Buffer.alloc(0)

export class RawBytes {
  readonly bytes: Buffer
  readonly #view: DataView
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
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
    return length === 0 ? nothing : this.bytes.subarray(from, this.at)
  }

  /** What stands there, for whom keeps it: that must not keep all of a block's bytes. */
  copied(from: number, length: number): Uint8Array {
    const copied = new Uint8Array(length)
    if (length > fewBytes) copied.set(this.bytes.subarray(from, from + length))
    else for (let index = 0; index < length; index++) copied[index] = this.bytes[from + index]!
    return copied
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4), true)
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.skip(8), true)
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
    return writtenAt(this.bytes, this.skip(32))
  }
}

/** A hash as it is written from the hash as it is computed, which stands at `at`. */
export const writtenAt = (bytes: Uint8Array, at: number): Uint8Array => {
  const hash = new Uint8Array(32)
  for (let index = 0; index < 32; index++) hash[index] = bytes[at + 31 - index]!
  return hash
}

/** As {@link writtenAt}, of a hash alone. */
export const written = (hash: Uint8Array): Uint8Array => writtenAt(hash, 0)
