/** Fields of a node's answer as the items that a hash commits to. */
import * as Hex from "./Hex.ts"
import type * as Rlp from "./Rlp.ts"

/** Throws {@link Hex.Malformed} where the value is missing or not of the field's form. */
export type Encode = (value: unknown, field: string) => Rlp.Item

const quantityText = /^0x0*([0-9a-fA-F]{0,64})$/

/** A number of at most 256 bits: its shortest bytes. */
export const quantity: Encode = (value, field) => {
  const digits = typeof value === "string" && value.length > 2 ? quantityText.exec(value)?.[1] : undefined
  if (digits === undefined) throw new Hex.Malformed(`${field} must be 0x and 1 to 64 hex digits`)
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

/** Hex of exactly so many bytes; RLP decodes the digits where it writes them. */
export const bytes =
  (length: number): Encode =>
  (value, field) => {
    if (typeof value !== "string" || value.length !== 2 + 2 * length) {
      throw new Hex.Malformed(`${field} must be 0x and ${2 * length} hex digits`)
    }
    return value
  }

/** Any whole number of bytes. */
export const data: Encode = (value, field) => {
  if (typeof value !== "string" || value.length % 2 !== 0) throw new Hex.Malformed(`${field} must be 0x hex`)
  return value
}

export const address: Encode = bytes(20)

/** An address, or nothing in a contract creation. */
export const recipient: Encode = (value, field) => (value == null ? "0x" : address(value, field))

export const hash: Encode = bytes(32)

/** A truth: 1, or the empty string of 0. */
export const flag: Encode = (value, field) => {
  if (value == null || value === false) return "0x"
  if (value === true) return "0x01"
  throw new Hex.Malformed(`${field} must be true or false`)
}

export const list =
  (of: Encode): Encode =>
  (value, field) =>
    Hex.array(value, field).map((item) => of(item, field))
