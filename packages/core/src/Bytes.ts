/** Bytes as keys and in comparisons, in one way everywhere. */

/** A string that is equal for equal bytes, one character a byte: the key of a Map or Set. */
export const key = (bytes: Uint8Array): string => {
  if (bytes.length <= 1024) return textOf(bytes)
  let text = ""
  for (let from = 0; from < bytes.length; from += 1024) text += textOf(bytes.subarray(from, from + 1024))
  return text
}

/** `apply` is the fast way, but takes its arguments from the stack: a script may have megabytes. */
const textOf = (bytes: Uint8Array): string => String.fromCharCode.apply(null, bytes as unknown as Array<number>)

/** Whether both have the same length and the same bytes. */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Whether there are bytes, and all of them are zeros: of an address nobody's, the zero address. */
export const isZero = (bytes: Uint8Array | undefined): boolean => bytes?.every((byte) => byte === 0) ?? false
