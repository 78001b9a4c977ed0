/** Recursive Length Prefix, the serialisation of Ethereum's transactions, receipts and tries (Yellow Paper, appendix B). */
import { concatBytes } from "@noble/hashes/utils.js"

/** Bytes, or a list of items. */
export type Item = Uint8Array | ReadonlyArray<Item>

const bigEndian = (value: bigint): Uint8Array => {
  const digits = value.toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return Uint8Array.from({ length: even.length / 2 }, (_, index) =>
    Number.parseInt(even.slice(index * 2, index * 2 + 2), 16)
  )
}

/** A number from 0 up as an item: big-endian without leading zeros, so that 0 is the empty string. */
export const integer = (value: bigint): Uint8Array => (value === 0n ? new Uint8Array() : bigEndian(value))

const header = (short: number, length: number): Uint8Array => {
  if (length < 56) return Uint8Array.of(short + length)
  const size = bigEndian(BigInt(length))
  return Uint8Array.of(short + 55 + size.length, ...size)
}

/**
 * Item → bytes.
 *
 * @example
 * ```ts
 * import * as Rlp from "@headwater/core/evm/Rlp"
 *
 * Rlp.encode(new TextEncoder().encode("dog")) // => Uint8Array.of(0x83, 0x64, 0x6f, 0x67)
 * Rlp.encode([]) // => Uint8Array.of(0xc0)
 * ```
 */
export const encode = (item: Item): Uint8Array => {
  if (item instanceof Uint8Array) {
    return item.length === 1 && item[0]! < 0x80 ? item : concatBytes(header(0x80, item.length), item)
  }
  const body = concatBytes(...item.map(encode))
  return concatBytes(header(0xc0, body.length), body)
}
