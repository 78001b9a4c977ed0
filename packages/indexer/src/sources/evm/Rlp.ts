/** Recursive length prefix (Yellow Paper, appendix B), writing only. */

/** Bytes, or a list of items. */
export type Item = Uint8Array | ReadonlyArray<Item>

/** A number as its shortest big-endian bytes; zero is empty. */
export const integer = (number: bigint): Uint8Array => {
  const bytes: Array<number> = []
  for (let rest = number; rest > 0n; rest >>= 8n) bytes.unshift(Number(rest & 0xffn))
  return Uint8Array.from(bytes)
}

const lengthOfLength = (length: number): number =>
  length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4

const headerSize = (length: number): number => (length < 56 ? 1 : 1 + lengthOfLength(length))

const isBytes = (item: Item): item is Uint8Array => item instanceof Uint8Array

/** Length of the item's content, without its header. */
const contentSize = (item: Item): number => {
  if (isBytes(item)) return item.length
  let size = 0
  for (const part of item) size += sizeOf(part)
  return size
}

const sizeOf = (item: Item): number => {
  if (isBytes(item) && item.length === 1 && item[0]! < 0x80) return 1
  const content = contentSize(item)
  return headerSize(content) + content
}

const writeHeader = (target: Uint8Array, at: number, offset: number, length: number): number => {
  if (length < 56) {
    target[at] = offset + length
    return at + 1
  }
  const digits = lengthOfLength(length)
  target[at] = offset + 55 + digits
  for (let index = 0; index < digits; index++) target[at + digits - index] = (length >>> (8 * index)) & 0xff
  return at + 1 + digits
}

const write = (target: Uint8Array, at: number, item: Item): number => {
  if (isBytes(item)) {
    const start = item.length === 1 && item[0]! < 0x80 ? at : writeHeader(target, at, 0x80, item.length)
    target.set(item, start)
    return start + item.length
  }
  let end = writeHeader(target, at, 0xc0, contentSize(item))
  for (const part of item) end = write(target, end, part)
  return end
}

export const encode = (item: Item): Uint8Array => {
  const bytes = new Uint8Array(sizeOf(item))
  write(bytes, 0, item)
  return bytes
}
