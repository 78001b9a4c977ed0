/** Values in the JSON of java-tron's HTTP API, in its default form: addresses and hashes are plain hexadecimal. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** 32 bytes of a block id, a transaction id, a topic. */
export const Hash = Schema.String.check(
  Schema.isPattern(/^[0-9a-fA-F]{64}$/, { message: "must be 64 hexadecimal digits" })
)

export const Hex = Schema.String.check(
  Schema.isPattern(/^(?:[0-9a-fA-F]{2})*$/, { message: "must be hexadecimal digits" })
)

/** An amount, not negative: a number, or its text where a float could have changed it. */
export const Sun = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  Schema.String.check(Schema.isPattern(/^\d{1,19}$/, { message: "must be an amount in sun" }))
])

/** A non-negative integer. Fields that are zero are left out of the JSON. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

export const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"))

const bareAccount = /^[0-9a-fA-F]{40}$/

/** An address in any form, also as the 40 digits without version that logs have; the failure is the rule it breaks. */
export const address = (chain: Chain, text: string, field: string): Result.Result<AddressBytes, string> =>
  bareAccount.test(text)
    ? Result.succeed(Address.fromBytes(bytes(text)))
    : Result.mapError(Address.decode(chain, text), ({ message }) => `${field}: ${message}`)

/** An address as requests have it: 41 and 40 digits. */
export const addressHex = (account: Uint8Array): string => `41${Buffer.from(account).toString("hex")}`
