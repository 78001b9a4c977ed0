/** Recursive length prefix (Yellow Paper, appendix B), written forwards behind `top`, or backwards before what is there. */
import { data, fixed, shortest } from "../hex"

const string: u8 = 0x80
export const list: u8 = 0xc0

/** Where the next item goes. */
export let top: usize = 0

export function writeTo(at: usize): void {
  top = at
}

/** Puts the head of `length` bytes before `at`; where it begins. */
export function headBefore(at: usize, kind: u8, length: usize): usize {
  let next = at
  if (length < 56) {
    store<u8>(--next, kind + <u8>length)
    return next
  }
  for (let rest = length; rest > 0; rest >>= 8) store<u8>(--next, <u8>rest)
  const size = <u8>(at - next)
  store<u8>(--next, kind + 55 + size)
  return next
}

/** Puts the head of a string of `length` bytes before `at`, unless it is a byte that stands for itself. */
export function stringBefore(at: usize, length: usize): usize {
  return length == 1 && load<u8>(at) < 0x80 ? at : headBefore(at, string, length)
}

/** Bytes of a head. */
export function headSize(length: usize): usize {
  let size: usize = 1
  if (length >= 56) for (let rest = length; rest > 0; rest >>= 8) size++
  return size
}

/** Puts a head before what was written since `from`, which moves. */
export function close(from: usize, kind: u8): void {
  const length = top - from
  const size = headSize(length)
  memory.copy(from + size, from, length)
  headBefore(from + size, kind, length)
  top += size
}

export function writeNothing(): void {
  store<u8>(top++, string)
}

/** The exactly `length` bytes, less than 56, of the string at `from`. */
export function writeFixed(from: usize, length: usize): void {
  store<u8>(top, string + <u8>length)
  fixed(top + 1, from, length)
  top += 1 + length
}

/** The number at `from`. */
export function writeNumber(from: usize): void {
  const length = shortest(top + 1, from)
  if (length == 1 && load<u8>(top + 1) < 0x80) {
    store<u8>(top, load<u8>(top + 1))
    top++
    return
  }
  store<u8>(top, string + <u8>length)
  top += 1 + length
}

/** Any bytes of the string at `from`. */
export function writeData(from: usize): void {
  const at = top
  top += data(at, from)
  if (top != at + 1 || load<u8>(at) >= 0x80) close(at, string)
}
