/** Numbers, bytes and texts one behind another: what a message between threads is packed into, and read from in the same order. */

const firstLength = 2 ** 16
const limbBits = 64n
const fewBytes = 64

/** A packed message: the buffer moves with it, and one text is copied in one piece. */
export interface Packed {
  readonly bytes: ArrayBuffer
  readonly text: string
}

export class PackedWriter {
  #bytes = new Uint8Array(firstLength)
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  readonly #texts: Array<string> = []

  #reach(length: number): void {
    const end = this.#at + length
    if (end <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }

  byte(value: number): void {
    this.#reach(1)
    this.#bytes[this.#at++] = value
  }

  /** A whole number from 0 to 2^53 - 1, seven bits a byte. */
  number(value: number): void {
    this.#reach(8)
    let rest = value
    while (rest > 0x7fffffff) {
      this.#bytes[this.#at++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      this.#bytes[this.#at++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.#at++] = rest
  }

  /** An amount that is not negative: how many words of 64 bits it has, and the words, the lowest first. */
  amount(value: bigint): void {
    this.#reach(9)
    const count = this.#at++
    let words = 0
    for (let rest = value; rest > 0n; rest >>= limbBits) {
      this.#reach(8)
      this.#view.setBigUint64(this.#at, BigInt.asUintN(64, rest), true)
      this.#at += 8
      words++
    }
    this.#bytes[count] = words
  }

  bytes(value: Uint8Array): void {
    const { length } = value
    this.number(length)
    this.#reach(length)
    if (length > fewBytes) this.#bytes.set(value, this.#at)
    else for (let index = 0; index < length; index++) this.#bytes[this.#at + index] = value[index]!
    this.#at += length
  }

  text(value: string): void {
    this.number(value.length)
    this.#texts.push(value)
  }

  packed(): Packed {
    return { bytes: this.#bytes.buffer.transfer(this.#at), text: this.#texts.join("") }
  }
}

export class PackedReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #text: string
  /** Where the next value stands. */
  at: number
  #textAt = 0

  constructor({ bytes, text }: Packed, at = 0) {
    this.#bytes = new Uint8Array(bytes)
    this.#view = new DataView(bytes)
    this.#text = text
    this.at = at
  }

  byte(): number {
    return this.#bytes[this.at++]!
  }

  number(): number {
    let next = this.#bytes[this.at++]!
    if (next < 128) return next
    let value = next & 127
    for (let factor = 128; ; factor *= 128) {
      next = this.#bytes[this.at++]!
      value += (next & 127) * factor
      if (next < 128) return value
    }
  }

  amount(): bigint {
    const words = this.#bytes[this.at++]!
    if (words === 0) return 0n
    let value = this.#view.getBigUint64(this.at, true)
    for (let word = 1; word < words; word++) {
      value |= this.#view.getBigUint64(this.at + 8 * word, true) << (limbBits * BigInt(word))
    }
    this.at += 8 * words
    return value
  }

  /** Copied: what is kept of a message must not keep all of its bytes. */
  bytes(): Uint8Array {
    const length = this.number()
    const from = this.at
    this.at += length
    if (length > fewBytes) return this.#bytes.slice(from, this.at)
    const copied = new Uint8Array(length)
    for (let index = 0; index < length; index++) copied[index] = this.#bytes[from + index]!
    return copied
  }

  skipBytes(): void {
    const length = this.number()
    this.at += length
  }

  text(): string {
    const from = this.#textAt
    this.#textAt += this.number()
    return this.#text.slice(from, this.#textAt)
  }
}
