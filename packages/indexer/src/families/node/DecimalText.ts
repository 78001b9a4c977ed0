/**
 * JSON whose numbers must not pass through a float: an amount such as `0.1` or `12345678901.12345678` becomes its text.
 *
 * A reviver would be called for every value of the document; instead the few numbers in question are put in quotes in
 * the bytes, and `JSON.parse` does the rest.
 */

const quote = 0x22
const backslash = 0x5c
const minus = 0x2d
const point = 0x2e
const digit0 = 0x30
const digit9 = 0x39

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Digits that a safe integer may have without looking closer. */
const safeDigits = 15

const isNumberByte = (byte: number): boolean =>
  (byte >= digit0 && byte <= digit9) ||
  byte === point ||
  byte === 0x65 ||
  byte === 0x45 ||
  byte === 0x2b ||
  byte === minus

/** Index just past the string that begins at `start` (its opening quote); -1 where it goes on behind `limit`. */
export const endOfString = (json: Buffer, start: number, limit = json.length): number => {
  let at = start + 1
  const near = Math.min(json.length, start + 96)
  while (at < near && json[at] !== quote && json[at] !== backslash) at++
  if (json[at] === quote) return at + 1
  const isLast = limit >= json.length
  if (json[at] !== backslash) {
    const found = (isLast ? json : json.subarray(0, limit)).indexOf(quote, at)
    if (found < 0) return isLast ? json.length : -1
    if (json[found - 1] !== backslash) return found + 1
  }
  while (at < limit) {
    if (json[at] === quote) return at + 1
    at += json[at] === backslash ? 2 : 1
  }
  return isLast ? json.length : -1
}

/** Starts and ends, alternating, of the numbers that a float could change. */
const inexactNumbers = (json: Buffer): ReadonlyArray<number> => {
  const found: Array<number> = []
  let at = 0
  while (at < json.length) {
    const byte = json[at]!
    if (byte === quote) {
      at = endOfString(json, at)
    } else if (byte === minus || (byte >= digit0 && byte <= digit9)) {
      const start = at
      let whole = true
      while (at < json.length && isNumberByte(json[at]!)) {
        const next = json[at++]!
        whole &&= next === minus || (next >= digit0 && next <= digit9)
      }
      if (whole && at - start <= safeDigits) continue
      const text = json.toString("latin1", start, at)
      // Bytes that form no number are left for JSON.parse to refuse.
      if (number.test(text) && !(whole && Number.isSafeInteger(Number(text)))) found.push(start, at)
    } else {
      at++
    }
  }
  return found
}

/**
 * Parses UTF-8 JSON; every number that is not a safe integer, or that has a point or an exponent, becomes its text.
 * Throws `SyntaxError` as `JSON.parse` does.
 *
 * @example
 * ```ts
 * import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
 *
 * DecimalText.parse(Buffer.from('[21, 0.10, 12345678901234567890]')) // => [21, "0.10", "12345678901234567890"]
 * ```
 */
export const parse = (json: Buffer): unknown => {
  const numbers = inexactNumbers(json)
  if (numbers.length === 0) return JSON.parse(json.toString())
  const quoted = Buffer.allocUnsafe(json.length + numbers.length)
  let from = 0
  let to = 0
  for (const border of numbers) {
    to += json.copy(quoted, to, from, border)
    quoted[to++] = quote
    from = border
  }
  json.copy(quoted, to, from)
  return JSON.parse(quoted.toString())
}
