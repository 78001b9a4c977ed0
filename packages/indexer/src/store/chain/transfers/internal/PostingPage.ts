/**
 * Sorted postings as the bytes of a page: each as what it differs by from the one before, about half of its bytes. As many
 * as fill a quarter of a page of the database, for the reason that chunks have.
 */
import * as Posting from "./Posting.ts"

const mostBytes = 1_980
/** What one posting takes at most. */
const mostOfOne = 16

const bytes = Buffer.allocUnsafeSlow(mostBytes)
let length = 0

const varint = (value: number) => {
  let rest = value
  while (rest >= 0x8000_0000) {
    bytes[length++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  while (rest >= 0x80) {
    bytes[length++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[length++] = rest
}

const low20 = Posting.perBlock - 1
const heightAt = (postings: Uint32Array, at: number) =>
  (postings[at + 1]! & 0xff_ffff) * 0x1000 + (postings[at + 2]! >>> 20)

/** Packs sorted postings from a word on; the page, and the word behind its last posting. */
export const pack = (postings: Uint32Array, from: number): { readonly data: Uint8Array; readonly end: number } => {
  length = 0
  let hash = 0
  let height = 0
  let index = 0
  let at = from
  for (; at < postings.length && length <= mostBytes - mostOfOne; at += Posting.words) {
    const nextHash = Posting.hashAt(postings, at)
    const nextHeight = heightAt(postings, at)
    const nextIndex = postings[at + 2]! & low20
    varint(nextHash - hash)
    const up = nextHeight - height
    varint(up < 0 ? -2 * up - 1 : 2 * up)
    // Of one address in one block the numbers go up.
    varint(nextHash === hash && up === 0 && at > from ? nextIndex - index : nextIndex)
    hash = nextHash
    height = nextHeight
    index = nextIndex
  }
  return { data: Uint8Array.prototype.slice.call(bytes, 0, length), end: at }
}

/** The postings of a page, as words. */
export const unpack = (page: Uint8Array): Uint32Array => {
  // A posting takes three bytes at least.
  const postings = new Uint32Array(page.length)
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = page[at++]!
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    for (let scale = 2 ** 28; ; scale *= 0x80) {
      const byte = page[at++]!
      value += (byte & 0x7f) * scale
      // Nothing is at hand behind the end.
      if (!(byte >= 0x80)) return value
    }
  }
  let hash = 0
  let height = 0
  let index = 0
  let end = 0
  while (at < page.length) {
    const further = varint()
    const up = varint()
    const number = varint()
    index = further === 0 && up === 0 && end > 0 ? index + number : number
    hash += further
    height += up % 2 === 0 ? up / 2 : -(up + 1) / 2
    postings[end] = hash / 0x100
    postings[end + 1] = ((hash % 0x100) << 24) | Math.floor(height / 0x1000)
    postings[end + 2] = ((height % 0x1000) << 20) | index
    end += Posting.words
  }
  if (at !== page.length) throw new Error("A page of postings is damaged")
  return postings.subarray(0, end)
}
