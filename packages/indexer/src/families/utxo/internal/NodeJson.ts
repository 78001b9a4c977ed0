/** Values in a UTXO node's JSON. Every reader throws `Malformed` with the field's name and the rule it breaks. */
import * as Amount from "@headwater/core/Amount"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { JsonText } from "../../node/JsonText.ts"
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

const quote = 0x22

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

/** The digits of text that is not a string; undefined of anything else. */
const digitsOf = (value: unknown): Buffer | undefined =>
  value instanceof LongText
    ? value.bytes
    : value instanceof JsonText && value.bytes[0] === quote
      ? value.bytes.subarray(1, -1)
      : undefined

/** As {@link bytes}, of text that may be long. */
export function* longBytes(value: unknown, field: Field): Generator<void, Uint8Array> {
  const digits = digitsOf(value)
  if (digits === undefined) return bytes(value, field)
  if (digits.length % 2 !== 0) return refuse(field(), "must be hex text")
  const read = Buffer.allocUnsafeSlow(digits.length / 2)
  const { giveBack, take } = UtxoKernel.kernel
  for (let from = 0; from < digits.length; from += digitsOfStep) {
    const some = digits.subarray(from, from + digitsOfStep)
    const kernel = take()
    const start = kernel.begin()
    const to = start + digitsOfStep
    kernel.reach(to + digitsOfStep / 2)
    const memory = new Uint8Array(kernel.memory.buffer)
    memory.set(some, start)
    if (kernel.decode(start, some.length / 2, to) === 0) return refuse(field(), "must be hex text")
    read.set(memory.subarray(to, to + some.length / 2), from / 2)
    giveBack(kernel)
    yield
  }
  return read
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
