/** Amounts of the XRP Ledger: drops of XRP, issued currencies and multi-purpose tokens, as their JSON writes them. */
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bytes from "../Bytes.ts"
import * as Amount from "../Amount.ts"
import { xrp } from "../chains/xrp.ts"

export type XrpAmount =
  | { readonly kind: "xrp"; readonly drops: bigint }
  | { readonly kind: "token"; readonly value: string; readonly unit: string }
  /** In a form that this release does not know: of a later amendment, or of a fault of a server. */
  | { readonly kind: "unknown" }

/** An amount in whole units and its unit, as the interface has them. */
export interface Item {
  readonly amount: string
  readonly unit: string
}

export const unknown: XrpAmount = { kind: "unknown" }

const drops = Schema.String.check(Schema.isPattern(/^\d{1,20}$/, { message: "must be drops of XRP" }))

/** Decimal text, with an exponent where it is long; the ledger's exponents have two digits. */
const value = Schema.String.check(
  Schema.isPattern(/^-?\d{1,80}(?:\.\d{1,80})?(?:[eE][+-]?\d{1,2})?$/, { message: "must be a decimal number" })
)

const issued = Schema.Struct({ currency: Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{3,40}$/u)), value })
const multiPurpose = Schema.Struct({
  mpt_issuance_id: Schema.String.check(Schema.isPattern(/^[0-9A-Fa-f]{48}$/)),
  value
})

const decodeJson = Schema.decodeUnknownResult(Schema.Union([drops, issued, multiPurpose]))

const hexCode = /^[0-9A-Fa-f]{40}$/
const printable = /^[\x21-\x7e]+$/

const asciiOf = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

/** A name of three characters as a code of 160 bits. */
const codeOf = (name: string): string => `${"00".repeat(12)}${Bytes.hex(utf8ToBytes(name))}${"00".repeat(5)}`

const passesForXrp = (name: string): boolean => name.toUpperCase() === xrp.unit

/**
 * The name of a currency: three characters as they are, a code of 160 bits as the text in the code. A code without text,
 * or one that would pass for XRP, is hexadecimal: the ledger lets anybody issue `xrp`.
 */
const currencyName = (code: string): string => {
  if (!hexCode.test(code)) return passesForXrp(code) ? codeOf(code) : code
  const bytes = hexToBytes(code)
  const standard = bytes.every((byte, at) => byte === 0 || (at >= 12 && at < 15))
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  const text = asciiOf(standard ? bytes.subarray(12, 15) : bytes.subarray(0, end))
  return printable.test(text) && !passesForXrp(text) ? text : code.toUpperCase()
}

/** Enough digits after the point for the smallest amount that the ledger can hold, 10^-81, and its digits. */
const tokenDecimals = 200

const plain = (text: string): Result.Result<string, string> =>
  Result.mapBoth(Amount.parse(text, tokenDecimals), {
    onFailure: () => "must be a decimal number",
    onSuccess: (scaled) => Amount.format(scaled, tokenDecimals)
  })

/** Reads an amount of any kind; the failure is the rule that it breaks. */
export const decode = (json: unknown): Result.Result<XrpAmount, string> =>
  Result.gen(function* () {
    const amount = yield* Result.mapError(decodeJson(json), () => "must be drops, or a currency or token with a value")
    if (typeof amount === "string") return { kind: "xrp", drops: BigInt(amount) }
    const unit = "currency" in amount ? currencyName(amount.currency) : amount.mpt_issuance_id.toUpperCase()
    return { kind: "token", value: yield* plain(amount.value), unit }
  })

/** The item of an absent amount. */
export const zero: Item = { amount: "0", unit: xrp.unit }

/** An unknown amount has no unit: its number, which the interface wants, is then of nothing. */
export const toItem = (amount: XrpAmount): Item => {
  switch (amount.kind) {
    case "xrp":
      return { amount: Amount.format(amount.drops, xrp.decimals), unit: xrp.unit }
    case "token":
      return { amount: amount.value, unit: amount.unit }
    case "unknown":
      return { amount: "0", unit: "" }
  }
}
