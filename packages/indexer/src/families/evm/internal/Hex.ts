/**
 * `0x` hex of a node's answer to bytes and numbers, checked for width and letters.
 *
 * A mainnet block holds tens of thousands of such fields: they are read by hand, not by a Schema, and a broken one ends
 * the decoding of the whole answer by throwing {@link Malformed}, which `NodeAnswer` turns into a typed error.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as HexText from "../../node/HexText.ts"

/** The answer breaks a rule; the message names the field and the rule. */
export class Malformed extends Error {}

/** The answer does not fit what commits to its content; the message names the part, and what it does not fit. */
export class Mismatch extends Schema.TaggedError<Mismatch>()("Mismatch", {
  message: Schema.String,
  /** As of `ProofFailed`. */
  content: Schema.optionalKey(Schema.String)
}) {}

/** A JSON object of unknown content. */
export type Json = Readonly<Record<string, unknown>>

const isPrefixed = (text: string): boolean => text.charCodeAt(0) === 0x30 && text.charCodeAt(1) === 0x78

/** Exactly `length` bytes. */
export const fixed = (value: unknown, length: number, field: string): Uint8Array => {
  const bytes =
    typeof value === "string" && value.length === 2 + 2 * length && isPrefixed(value)
      ? HexText.bytesAt(value, 2, length)
      : undefined
  if (bytes === undefined) throw new Malformed(`${field} must be 0x and ${2 * length} hex digits`)
  return bytes
}

/** 32 bytes. */
export const hash = (value: unknown, field: string): Uint8Array => fixed(value, 32, field)

/** 20 bytes. */
export const address = (value: unknown, field: string): AddressBytes => fixed(value, 20, field) as AddressBytes

/** Any whole number of bytes. */
export const data = (value: unknown, field: string): Uint8Array => {
  if (typeof value !== "string" || value.length % 2 !== 0) throw new Malformed(`${field} must be 0x hex`)
  return fixed(value, (value.length - 2) / 2, field)
}

const quantityText = /^0x[0-9a-fA-F]{1,64}$/

/** A number of at most 256 bits. Leading zeros are let pass: some nodes write them. */
export const quantity = (value: unknown, field: string): bigint => {
  if (value === "0x0") return 0n
  if (typeof value !== "string" || !quantityText.test(value)) {
    throw new Malformed(`${field} must be 0x and 1 to 64 hex digits`)
  }
  return BigInt(value)
}

/** A number that fits a JavaScript integer. */
export const integer = (value: unknown, field: string): number => {
  const short = typeof value === "string" && value.length < 16 && quantityText.test(value)
  const number = short ? Number(value) : Number(quantity(value, field))
  if (!Number.isSafeInteger(number)) throw new Malformed(`${field} must be at most 2^53 - 1`)
  return number
}

export const object = (value: unknown, field: string): Json => {
  if (!Predicate.isReadonlyObject(value)) throw new Malformed(`${field} must be an object`)
  return value
}

export const array = (value: unknown, field: string): ReadonlyArray<unknown> => {
  if (!Array.isArray(value)) throw new Malformed(`${field} must be an array`)
  return value
}

const encoder = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Bytes to `0x` hex, for parameters. */
export const encode = (bytes: Uint8Array): string => {
  let text = "0x"
  for (const byte of bytes) text += encoder[byte]
  return text
}

/** Number to a quantity, for parameters. */
export const encodeQuantity = (number: number): string => `0x${number.toString(16)}`

export const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
