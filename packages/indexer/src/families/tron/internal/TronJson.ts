/** Values in the JSON of java-tron's HTTP API, in its default form: addresses and hashes are plain hexadecimal. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HexText from "../../node/HexText.ts"

const hash = /^[0-9a-fA-F]{64}$/

/** 32 bytes of a block id, a transaction id, a topic. */
export const Hash = Schema.String.check(Schema.isPattern(hash, { message: "must be 64 hexadecimal digits" }))

/** As {@link Hash} has it: a block has thousands of these. */
export const isHash = (value: unknown): value is string => typeof value === "string" && hash.test(value)

const hexadecimal = /^(?:[0-9a-fA-F]{2})*$/

export const Hex = Schema.String.check(Schema.isPattern(hexadecimal, { message: "must be hexadecimal digits" }))

/** As {@link Hex} has it. */
export const isHex = (value: unknown): value is string => typeof value === "string" && hexadecimal.test(value)

/** An amount, not negative: a number, or its text where a float could have changed it. */
export const Sun = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  Schema.String.check(Schema.isPattern(/^\d{1,19}$/, { message: "must be an amount in sun" }))
])

/** As {@link Sun}, with a sign: what a contract asked for, which the virtual machine may have refused. */
export const SignedSun = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  Schema.String.check(Schema.isPattern(/^-?\d{1,19}$/, { message: "must be an amount in sun" }))
])

/** A non-negative integer. Fields that are zero are left out of the JSON. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/** The bytes of a text that may have other letters than digits; undefined where it has. */
export const bytesOf = (text: unknown): Uint8Array | undefined =>
  typeof text === "string" && text.length % 2 === 0 ? HexText.bytesAt(text, 0, text.length / 2) : undefined

export const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"))

/** The account in a text of 41 and 40 digits, or of these 40 alone. */
const accountOf = (text: string): Uint8Array | undefined => {
  const start = text.length === 42 && text.startsWith("41") ? 2 : 0
  return text.length === start + 40 ? HexText.bytesAt(text, start, 20) : undefined
}

/** An address in any form, also as the 40 digits without version that logs have; the failure is the rule it breaks. */
export const address = (chain: Chain, text: string, field: string): Result.Result<AddressBytes, string> => {
  const account = accountOf(text)
  return account === undefined
    ? Result.mapError(Address.decode(chain, text), ({ message }) => `${field}: ${message}`)
    : Result.succeed(Address.fromBytes(account))
}

/** An address as requests have it: 41 and 40 digits. */
export const addressHex = (account: Uint8Array): string => `41${Buffer.from(account).toString("hex")}`
