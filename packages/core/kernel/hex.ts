/** `0x` hex in JSON strings. What is not of the form that is asked for is noted in `isBroken`, and nothing is to be used then. */
import { closing, maxItem } from "./json"

export let isBroken = false

/** Begins anew. */
export function whole(): void {
  isBroken = false
}

/** Notes that something is not as it must be. */
export function must(holds: bool): void {
  if (!holds) isBroken = true
}

const quote: u8 = 0x22

/** The value of a digit; more than 15 for any other byte. */
function digit(byte: u8): u32 {
  const decimal = <u32>byte - 0x30
  if (decimal < 10) return decimal
  const letter = (<u32>byte | 0x20) - 0x61
  return letter < 6 ? letter + 10 : 16
}

/** Whether two letters, digits and so on begin the string at `from`. */
function isPrefixed(from: usize): bool {
  return load<u8>(from) == quote && load<u16>(from, 1) == 0x7830
}

/** Numbers for all lanes of a vector. In memory, since V8 makes what is written in a loop anew in each turn: half of its time. */
const numbers = memory.data<u8>([0x3a, 6, 16, 0x20, 0x61, 10])
const lowByte = memory.data<u16>([0xff])

/** The values of 16 digits; more than 15 of what is none. */
function values(text: v128, colon: v128, six: v128, sixteen: v128, small: v128, a: v128, ten: v128): v128 {
  // A nine becomes the largest byte, and whatever is above wraps around: only digits are among the ten largest then.
  const high = i8x16.sub_sat_u(i8x16.sub(text, colon), six)
  const decimals = i8x16.add(high, sixteen)
  const letters = i8x16.sub(v128.or(text, small), a)
  return i8x16.min_u(decimals, i8x16.add_sat_u(letters, ten))
}

/** Of 16 digits' values the bytes, each in a number of 16 bits, whose low byte is the first digit. */
function paired(values: v128, low: v128): v128 {
  return v128.and(v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8)), low)
}

/** Decodes the digits of `length` bytes. */
export function decode(to: usize, from: usize, length: usize): void {
  const colon = v128.load8_splat(numbers)
  const six = v128.load8_splat(numbers, 1)
  const sixteen = v128.load8_splat(numbers, 2)
  const small = v128.load8_splat(numbers, 3)
  const a = v128.load8_splat(numbers, 4)
  const ten = v128.load8_splat(numbers, 5)
  const low = v128.load16_splat(lowByte)
  let index: usize = 0
  let largest = i8x16.splat(0)
  for (; index + 16 <= length; index += 16) {
    const first = values(v128.load(from + 2 * index), colon, six, sixteen, small, a, ten)
    const second = values(v128.load(from + 2 * index, 16), colon, six, sixteen, small, a, ten)
    largest = i8x16.max_u(largest, i8x16.max_u(first, second))
    v128.store(to + index, i8x16.narrow_i16x8_u(paired(first, low), paired(second, low)))
  }
  must(i8x16.all_true(i8x16.lt_u(largest, sixteen)))
  for (; index < length; index++) {
    const high = digit(load<u8>(from + 2 * index))
    const low = digit(load<u8>(from + 2 * index, 1))
    must((high | low) < 16)
    store<u8>(to + index, <u8>((high << 4) | low))
  }
}

/** Puts the exactly `length` bytes of the string at `from` to `to`. */
export function fixed(to: usize, from: usize, length: usize): void {
  if (from != 0 && isPrefixed(from) && load<u8>(from + 3 + 2 * length) == quote) decode(to, from + 3, length)
  else isBroken = true
}

/** Puts the bytes of the string at `from` to `to`; how many these are. */
export function data(to: usize, from: usize): usize {
  if (from == 0 || !isPrefixed(from)) {
    isBroken = true
    return 0
  }
  const digits = closing(from) - (from + 3)
  must((digits & 1) == 0 && digits < maxItem)
  if (isBroken) return 0
  decode(to, from + 3, digits >> 1)
  return digits >> 1
}

// The digits of the last number that was looked at, without zeros before.
let first: usize = 0
let digits: usize = 0

/** Looks at the number of at most 256 bits at `from`. */
function look(from: usize): void {
  digits = 0
  if (from == 0 || !isPrefixed(from)) {
    isBroken = true
    return
  }
  first = from + 3
  while (digits < 65 && digit(load<u8>(first + digits)) < 16) digits++
  must(digits > 0 && digits < 65 && load<u8>(first + digits) == quote)
  while (digits > 0 && load<u8>(first) == 0x30) {
    first++
    digits--
  }
}

/** Puts the number at `from` to `to` in its shortest form, big-endian; how many bytes these are. */
export function shortest(to: usize, from: usize): usize {
  look(from)
  const length = (digits + 1) >> 1
  let at = first
  let next = to
  if ((digits & 1) != 0) store<u8>(next++, <u8>digit(load<u8>(at++)))
  for (const end = first + digits; at < end; at += 2) {
    store<u8>(next++, <u8>((digit(load<u8>(at)) << 4) | digit(load<u8>(at, 1))))
  }
  return length
}

/** Puts the number at `from` to `to` as 32 bytes, big-endian; whether it is more than zero. */
export function word(to: usize, from: usize): bool {
  memory.fill(to, 0, 32)
  look(from)
  if (digits == 0) return false
  shortest(to + 32 - ((digits + 1) >> 1), from)
  return true
}

/** The number at `from`, which must be at most 2^53 - 1. */
export function integer(from: usize): f64 {
  look(from)
  must(digits < 15)
  let number: u64 = 0
  for (let index: usize = 0; index < digits && index < 15; index++) {
    number = (number << 4) | digit(load<u8>(first + index))
  }
  must(number < (<u64>1) << 53)
  return <f64>number
}

export function equal(a: usize, b: usize, length: usize): bool {
  return memory.compare(a, b, length) == 0
}
