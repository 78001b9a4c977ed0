/** Bytes as keys and in comparisons, in one way everywhere. */

/** `apply` is the fast way, but takes its arguments from the stack: a script may have megabytes. */
const inParts = (bytes: Uint8Array, textOf: (part: Uint8Array) => string): string => {
  if (bytes.length <= 1024) return textOf(bytes)
  let text = ""
  for (let from = 0; from < bytes.length; from += 1024) text += textOf(bytes.subarray(from, from + 1024))
  return text
}

const charactersOf = (bytes: Uint8Array): string => String.fromCharCode.apply(null, bytes as unknown as Array<number>)

/** A string that is equal for equal bytes, one character a byte: the key of a Map or Set. */
export const key = (bytes: Uint8Array): string => inParts(bytes, charactersOf)

const digits = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0))

const digitsOf = (bytes: Uint8Array): string => {
  const codes = new Array<number>(bytes.length * 2)
  for (let index = 0; index < bytes.length; index++) {
    codes[2 * index] = digits[bytes[index]! >> 4]!
    codes[2 * index + 1] = digits[bytes[index]! & 15]!
  }
  return String.fromCharCode.apply(null, codes)
}

/** Lower-case hexadecimal digits, in one piece: what is put together digit by digit is a tree, which costs more memory than its text. */
export const hex = (bytes: Uint8Array): string => inParts(bytes, digitsOf)

/** Whether both have the same length and the same bytes. */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Whether there are bytes, and all of them are zeros: of an address nobody's, the zero address. */
export const isZero = (bytes: Uint8Array | undefined): boolean => bytes?.every((byte) => byte === 0) ?? false
