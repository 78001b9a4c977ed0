/**
 * Takes the objects out of JSON Lines, or out of a JSON array of any layout, without holding more than one of them.
 *
 * A broken object costs itself only: the next one begins where a line begins with a brace as far to the right as the
 * objects before it did.
 */

/** One object's text, or why there is none; and the line on which it begins, from 1. */
export type JsonElement =
  | { readonly line: number; readonly text: Buffer }
  | { readonly line: number; readonly problem: string }

/** The largest object. */
export const maxElementBytes = 1_048_576

const newline = 0x0a
const space = 0x20
const tab = 0x09
const carriageReturn = 0x0d
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const byteOrderMark = new Set([0xef, 0xbb, 0xbf])

const isBlank = (byte: number) => byte === space || byte === tab || byte === carriageReturn

export class JsonElements {
  #line = 1
  /** Blanks since the line began; -1 once something else has come. */
  #indent = 0
  /** Where objects begin on their lines. */
  #margin = -1
  /** Open braces and brackets of the present object; 0 between objects. */
  #depth = 0
  #inString = false
  #escaped = false
  /** The line on which the present object began. */
  #start = 1
  #pieces: Array<Buffer> = []
  #bytes = 0
  /** Whether nothing but blanks has come yet. */
  #first = true
  /** The last line that was complained about. */
  #complained = 0

  /** The objects that end in the next piece of the file, and what is wrong in it. */
  push(chunk: Uint8Array): ReadonlyArray<JsonElement> {
    const found: Array<JsonElement> = []
    /** Where the present object's text begins in the chunk. */
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === newline) {
        this.#line++
        this.#indent = 0
        // No string of JSON goes over the end of a line.
        this.#inString = false
        this.#escaped = false
        continue
      }
      const indent = this.#indent
      if (indent >= 0 && isBlank(byte)) {
        this.#indent++
        continue
      }
      this.#indent = -1
      if (this.#depth > 0 && byte === openBrace && indent >= 0 && indent === this.#margin) {
        found.push({ line: this.#start, problem: "is not complete" })
        this.#forget()
      }
      if (this.#depth === 0) {
        if (byte === openBrace) {
          this.#depth = 1
          this.#start = this.#line
          this.#first = false
          if (indent >= 0) this.#margin = indent
          from = at
        } else this.#between(byte, found)
      } else if (this.#inside(byte)) {
        this.#keep(chunk, from, at + 1)
        found.push(this.#taken())
      }
    }
    if (this.#depth > 0) this.#keep(chunk, from, chunk.length)
    return found
  }

  /** What is wrong at the end of the file. */
  end(): ReadonlyArray<JsonElement> {
    return this.#depth === 0 ? [] : [{ line: this.#start, problem: "is not complete" }]
  }

  /** A byte of the present object; whether it is the last. */
  #inside(byte: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (byte === backslash) this.#escaped = true
      else if (byte === quote) this.#inString = false
      return false
    }
    if (byte === quote) this.#inString = true
    else if (byte === openBrace || byte === openBracket) this.#depth++
    else if (byte === closeBrace || byte === closeBracket) this.#depth--
    return this.#depth === 0
  }

  #between(byte: number, found: Array<JsonElement>) {
    const opens = this.#first && (byte === openBracket || byteOrderMark.has(byte))
    if (opens || isBlank(byte) || byte === comma || byte === closeBracket) return
    this.#first = false
    if (this.#complained === this.#line) return
    this.#complained = this.#line
    found.push({ line: this.#line, problem: "is not a JSON object" })
  }

  #keep(chunk: Uint8Array, from: number, to: number) {
    this.#bytes += to - from
    // A copy, since the piece of the file would live as long as its part.
    if (this.#bytes <= maxElementBytes) this.#pieces.push(Buffer.from(chunk.subarray(from, to)))
    else this.#pieces = []
  }

  #taken(): JsonElement {
    const line = this.#start
    const element =
      this.#bytes > maxElementBytes
        ? { line, problem: `is larger than ${maxElementBytes} bytes` }
        : { line, text: Buffer.concat(this.#pieces) }
    this.#forget()
    return element
  }

  #forget() {
    this.#pieces = []
    this.#bytes = 0
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }
}
