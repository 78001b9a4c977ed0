/** Values in a UTXO node's JSON. Every reader throws `Malformed` with the field's name and the rule it breaks. */
import * as Amount from "@headwater/core/Amount"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { LongText } from "../../node/LongText.ts"
import { refuse } from "./Malformed.ts"

export type Json = Readonly<Record<string, unknown>>

/** Where a value stands. A function: names are only made for what is refused. */
export type Field = () => string

export const record = (value: unknown, field: Field): Json =>
  Predicate.isReadonlyObject(value) ? value : refuse(field(), "must be an object")

export const list = (value: unknown, field: Field): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : refuse(field(), "must be an array")

/** A non-negative safe integer. */
export const count = (value: unknown, field: Field): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : refuse(field(), "must be a non-negative integer")

/** Hex text of any even length. */
export const bytes = (value: unknown, field: Field): Uint8Array => {
  if (typeof value !== "string") return refuse(field(), "must be hex text")
  // Buffer stops at the first byte that is not hex.
  const read = Buffer.from(value, "hex")
  if (read.length * 2 !== value.length) return refuse(field(), "must be hex text")
  return new Uint8Array(read.buffer, read.byteOffset, read.length)
}

/** Hex digits that are read between two steps. */
const digitsOfStep = 2 ** 18

/** As {@link bytes}, of text that may be long. */
export function* longBytes(value: unknown, field: Field): Generator<void, Uint8Array> {
  if (!(value instanceof LongText)) return bytes(value, field)
  const { bytes: hex } = value
  const read = Buffer.allocUnsafeSlow(hex.length >> 1)
  for (let from = 0; from < hex.length; from += digitsOfStep) {
    const digits = hex.toString("latin1", from, from + digitsOfStep)
    if (read.write(digits, from / 2, "hex") * 2 !== digits.length) return refuse(field(), "must be hex text")
    yield
  }
  return new Uint8Array(read.buffer, read.byteOffset, read.length)
}

/** The 32 bytes of a block hash or transaction id, in the order in which they are written. */
export const hash = (value: unknown, field: Field): Uint8Array => {
  const read = bytes(value, field)
  return read.length === 32 ? read : refuse(field(), "must be 64 hex digits")
}

/** A decimal number of coins, as text or as an integer: in the smallest unit, not negative. */
export const coins = (value: unknown, decimals: number, field: Field): bigint => {
  const text = typeof value === "string" ? value : Number.isSafeInteger(value) ? String(value) : ""
  const amount = Amount.parse(text, decimals)
  if (Result.isFailure(amount)) return refuse(field(), amount.failure.message)
  return amount.success < 0n ? refuse(field(), "must not be negative") : amount.success
}
