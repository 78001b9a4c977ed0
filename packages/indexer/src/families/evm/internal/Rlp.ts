/** Recursive length prefix (Yellow Paper, appendix B), writing only. */
import * as Hex from "./Hex.ts"
import * as HexText from "../../node/HexText.ts"

/** Bytes, bytes as `0x` hex, or a list of items. */
export type Item = Uint8Array | string | ReadonlyArray<Item>

/** A number as its shortest big-endian bytes; zero is empty. */
export const integer = (number: number | bigint): Item => {
  const digits = number === 0 || number === 0n ? "" : number.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

/** First byte and up to four bytes of length. */
const maxHeader = 5

const isList = (item: Item): item is ReadonlyArray<Item> => Array.isArray(item)

/** As many bytes as the item can take. */
const bound = (item: Item): number => {
  if (typeof item === "string") return maxHeader + (item.length >> 1)
  if (!isList(item)) return maxHeader + item.length
  let size = maxHeader
  for (const part of item) size += bound(part)
  return size
}

/** Puts the header of `length` bytes before `end`; where it begins. */
const writeHeader = (target: Buffer, end: number, offset: number, length: number): number => {
  let at = end
  if (length < 56) {
    target[--at] = offset + length
    return at
  }
  for (let rest = length; rest > 0; rest >>>= 8) target[--at] = rest & 0xff
  const digits = end - at
  target[--at] = offset + 55 + digits
  return at
}

/** Puts the item before `end`, so that lengths are known when headers are written; where it begins. */
const write = (target: Buffer, end: number, item: Item): number => {
  let at = end
  if (isList(item)) {
    for (let index = item.length - 1; index >= 0; index--) at = write(target, at, item[index]!)
    return writeHeader(target, at, 0xc0, end - at)
  }
  if (typeof item === "string") {
    const length = (item.length >> 1) - 1
    at -= length
    if (item.length % 2 !== 0 || !item.startsWith("0x") || !HexText.write(target, at, item, 2, length)) {
      throw new Hex.Malformed("bytes must be 0x and an even number of hex digits")
    }
  } else {
    at -= item.length
    target.set(item, at)
  }
  return end - at === 1 && target[at]! < 0x80 ? at : writeHeader(target, at, 0x80, end - at)
}

/** Throws {@link Hex.Malformed} where a text is not hex. */
export const encode = (item: Item): Uint8Array => {
  const size = bound(item)
  const target = Buffer.allocUnsafe(size)
  return target.subarray(write(target, size, item))
}
