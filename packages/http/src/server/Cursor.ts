/**
 * Opaque cursors: a position in one list of one account, in characters that a URL may hold.
 *
 * A cursor names its list, so that a cursor of another list, account or order is refused instead of misread.
 */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { InvalidPagination } from "../contract/Errors.ts"
import type { Position } from "../operations/Operations.ts"

/** The identity of a list: operation, account, chain, address, order. */
export type List = ReadonlyArray<string | number>

const markLength = 8

const markOf = (list: List) => createHash("sha256").update(JSON.stringify(list)).digest().subarray(0, markLength)

export const encode = (list: List, position: Position): string => {
  const bytes = Buffer.alloc(markLength + position.length * 8)
  markOf(list).copy(bytes)
  position.forEach((number, i) => {
    bytes.writeDoubleBE(number, markLength + i * 8)
  })
  return bytes.toString("base64url")
}

const invalid = new InvalidPagination({
  message: "startingAfter: must be a nextStartingAfter of this list",
  details: [{ attribute: "startingAfter", message: "must be a nextStartingAfter of this list" }]
})

/** The position that a cursor of this list holds; `length` is how many numbers a position of the list has. */
export const decode = (list: List, text: string, length: number): Effect.Effect<Position, InvalidPagination> => {
  const bytes = Buffer.from(text, "base64url")
  if (bytes.length !== markLength + length * 8 || !markOf(list).equals(bytes.subarray(0, markLength))) {
    return Effect.fail(invalid)
  }
  const position = Array.from({ length }, (_, i) => bytes.readDoubleBE(markLength + i * 8))
  return position.every(Number.isSafeInteger) ? Effect.succeed(position) : Effect.fail(invalid)
}
