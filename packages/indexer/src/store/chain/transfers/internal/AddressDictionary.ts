/** The addresses of a chunk, each once. */
import { ByteWriter } from "./ByteWriter.ts"

/** Addresses that a dictionary has room for. */
export const most = 0xff
/** Instead of an index: an address that the dictionary does not have. */
export const missing = -1

export class AddressDictionary {
  count = 0
  /** The addresses one after another. */
  readonly bytes = new ByteWriter(1024)
  /** Whether the addresses are all of one length. */
  isUniform = true
  /** Where each address begins, and the last one ends. */
  readonly #begins = new Float64Array(most + 1)
  readonly #hashes = new Float64Array(most)
  /** One more than the index, under the hash or one of the next places. */
  readonly #places = new Uint8Array(512)

  clear() {
    this.count = 0
    this.bytes.length = 0
    this.isUniform = true
    this.#places.fill(0)
  }

  lengthOf(index: number): number {
    return this.#begins[index + 1]! - this.#begins[index]!
  }

  #isAt(index: number, address: Uint8Array): boolean {
    if (this.lengthOf(index) !== address.length) return false
    const { bytes } = this.bytes
    const begin = this.#begins[index]!
    for (let at = 0; at < address.length; at++) if (bytes[begin + at] !== address[at]) return false
    return true
  }

  /** Where an address is, or would be. */
  #placeOf(address: Uint8Array, hash: number): number {
    let place = hash & 511
    for (let index = this.#places[place]!; index !== 0; index = this.#places[place]!) {
      if (this.#hashes[index - 1] === hash && this.#isAt(index - 1, address)) break
      place = (place + 1) & 511
    }
    return place
  }

  /** The index of an address, or {@link missing}. */
  find(address: Uint8Array, hash: number): number {
    return this.#places[this.#placeOf(address, hash)]! - 1
  }

  /** Adds an address, where it is missing still; its index. */
  add(address: Uint8Array, hash: number): number {
    const place = this.#placeOf(address, hash)
    const known = this.#places[place]!
    if (known !== 0) return known - 1
    const index = this.count++
    this.#hashes[index] = hash
    this.#places[place] = index + 1
    this.bytes.reserve(address.length)
    this.bytes.raw(address)
    this.#begins[index + 1] = this.bytes.length
    if (this.lengthOf(index) !== this.lengthOf(0)) this.isUniform = false
    return index
  }
}
