/** Bytes from hex digits, told from other letters: a block holds tens of thousands of such texts, which are read by hand. */

/** Value of a hex digit by its UTF-16 code, -1 for everything else. */
const digits = new Int8Array(0x10000).fill(-1)
for (const [value, letters] of [
  "0",
  "1",
  "2",
  "3",
  "4",
  "5",
  "6",
  "7",
  "8",
  "9",
  "aA",
  "bB",
  "cC",
  "dD",
  "eE",
  "fF"
].entries()) {
  for (const letter of letters) digits[letter.charCodeAt(0)] = value
}

/** Puts `length` bytes from the hex digits of `text` that begin at `start` into `target`; false where one is no digit. */
export const write = (target: Uint8Array, at: number, text: string, start: number, length: number): boolean => {
  let sign = 0
  for (let index = 0, from = start; index < length; index++, from += 2) {
    const high = digits[text.charCodeAt(from)]!
    const low = digits[text.charCodeAt(from + 1)]!
    sign |= high | low
    target[at + index] = (high << 4) | low
  }
  return sign >= 0
}

/** `length` bytes from the hex digits of `text` that begin at `start`; undefined where one is no hex digit. */
export const bytesAt = (text: string, start: number, length: number): Uint8Array | undefined => {
  const bytes = new Uint8Array(length)
  return write(bytes, 0, text, start, length) ? bytes : undefined
}
