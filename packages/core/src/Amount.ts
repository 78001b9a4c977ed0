/** Exact amounts: `bigint` of the smallest unit in code, decimal text outside. No float anywhere on the way. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The text is not a decimal number, or has more digits after the point than the unit. */
export class InvalidAmount extends Schema.TaggedError<InvalidAmount>()("InvalidAmount", {
  message: Schema.String
}) {}

/**
 * Smallest units → decimal text in whole units, without exponent or trailing zeros.
 *
 * @example
 * ```ts
 * import * as Amount from "@headwater/core/Amount"
 *
 * Amount.format(150_000_000n, 8) // => "1.5"
 * ```
 */
export const format = (amount: bigint, decimals: number): string => {
  const negative = amount < 0n
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "")
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

/**
 * An amount of a coin in whole coins with their unit, as messages have it.
 *
 * @example
 * ```ts
 * import * as Amount from "@headwater/core/Amount"
 *
 * Amount.withUnit({ decimals: 8, unit: "BTC" }, 150_000_000n) // => "1.5 BTC"
 * ```
 */
export const withUnit = (
  { decimals, unit }: { readonly decimals: number; readonly unit: string },
  amount: bigint
): string => `${format(amount, decimals)} ${unit}`

/**
 * The larger of two amounts.
 *
 * @example
 * ```ts
 * import * as Amount from "@headwater/core/Amount"
 *
 * Amount.larger(2n, 3n) // => 3n
 * ```
 */
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/

/**
 * Decimal text in whole units → smallest units; an exponent is read, since nodes write `1e-8`. Fails where the text has
 * digits below the smallest unit.
 *
 * @example
 * ```ts
 * import * as Amount from "@headwater/core/Amount"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(Amount.parse("1.5", 8)) // => 150_000_000n
 * Result.isFailure(Amount.parse("0.000000001", 8)) // => true
 * ```
 */
export const parse = (text: string, decimals: number): Result.Result<bigint, InvalidAmount> => {
  const match = text.length > 200 ? null : decimal.exec(text)
  if (match === null) return Result.fail(new InvalidAmount({ message: "must be a decimal number" }))
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match
  const shift = decimals - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const scale = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % scale !== 0n) {
    return Result.fail(new InvalidAmount({ message: `must have at most ${decimals} digits after the point` }))
  }
  const amount = shift < 0 ? digits / scale : digits * scale
  return Result.succeed(sign === "-" ? -amount : amount)
}
