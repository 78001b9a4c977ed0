/**
 * Rates: the price of one unit of an asset in US dollars, its changes, and which quotes of a provider to believe.
 *
 * Everything is decimal text and `bigint`; no float anywhere on the way.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Amount from "../Amount.ts"

/** The currency of every rate. */
export const unit = "USD"

/** The greatest age of a rate that is still answered (interface section 8): 30 days, in seconds. */
export const maxAgeSeconds = 2_592_000

/** Digits after the point that are kept: prices of 10⁻²⁴ exist, and providers write floats with all their digits. */
const scale = 60
const limit = 10n ** BigInt(scale + 40)

/** Decimal text of any form → canonical text: no exponent, no trailing zeros. Fails for text that is no number, or an absurd one. */
const canonical = (text: string): Result.Result<string, Amount.InvalidAmount> =>
  Result.flatMap(Amount.parse(text, scale), (value) =>
    value < limit && value > -limit
      ? Result.succeed(Amount.format(value, scale))
      : Result.fail(new Amount.InvalidAmount({ message: "must have at most 40 digits before the point" }))
  )

/**
 * A decimal number as text, or an integer that a JSON parser has read without loss. A number with a fraction is
 * refused: the number has been through a float already.
 */
export const Decimal = Schema.Union([Schema.String, Schema.Int])
  .check(
    Schema.makeFilter((value) =>
      Result.match(canonical(String(value)), { onSuccess: () => true, onFailure: ({ message }) => message })
    )
  )
  .pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({
        decode: (value): string => Result.getOrThrow(canonical(String(value))),
        encode: (text): string | number => text
      })
    )
  )

/** A provider's quote of an asset at one moment. Amounts are decimal text; undefined is not known. */
export interface Quote {
  /** US dollars for one unit. */
  readonly amount: string
  /** The moment of the quote, in seconds since the Unix epoch. */
  readonly at: number
  /** Changes of the price in percent. */
  readonly change1h?: string | undefined
  readonly change24h?: string | undefined
  readonly change1w?: string | undefined
  /** US dollars traded in 24 hours. */
  readonly volume24h?: string | undefined
  /** US dollars. */
  readonly marketCap?: string | undefined
  /** Units of the asset. */
  readonly circulatingSupply?: string | undefined
  readonly maxSupply?: string | undefined
}

/** A price and its moment. */
export type Rate = Pick<Quote, "amount" | "at">

const units = (decimal: string): bigint => Result.getOrThrow(Amount.parse(decimal, scale))

/** `numerator / denominator`, rounded half away from zero to `decimals` digits; the denominator is positive. */
const divide = (numerator: bigint, denominator: bigint, decimals: number): string => {
  const scaled = numerator * 10n ** BigInt(decimals)
  const half = denominator / 2n
  return Amount.format((scaled + (scaled < 0n ? -half : half)) / denominator, decimals)
}

/**
 * Change from one price to another in percent, to five digits; undefined where the first is not above zero.
 *
 * @example
 * ```ts
 * import * as Rate from "@headwater/core/market/Rate"
 *
 * Rate.changeInPercent("80", "100") // => "25"
 * Rate.changeInPercent("0", "100") // => undefined
 * ```
 */
export const changeInPercent = (from: string, to: string): string | undefined => {
  const before = units(from)
  return before <= 0n ? undefined : divide((units(to) - before) * 100n, before, 5)
}

/**
 * Quotient of two decimals to so many digits, 18 by default; undefined where the divisor is not above zero.
 *
 * @example
 * ```ts
 * import * as Rate from "@headwater/core/market/Rate"
 *
 * Rate.quotient("1", "3") // => "0.333333333333333333"
 * ```
 */
export const quotient = (dividend: string, divisor: string, decimals = 18): string | undefined => {
  const by = units(divisor)
  return by <= 0n ? undefined : divide(units(dividend), by, decimals)
}

/** The periods whose changes are published, in seconds. */
export const periods = { change1h: 3_600, change24h: 86_400, change1w: 604_800 } as const

/** The rate of `series` nearest to a moment; undefined where none is within a tenth of the period that is compared. */
export const nearest = (series: ReadonlyArray<Rate>, at: number, period: number): Rate | undefined => {
  let found: Rate | undefined
  for (const rate of series) {
    const distance = Math.abs(rate.at - at)
    if (distance <= period / 10 && (found === undefined || distance < Math.abs(found.at - at))) found = rate
  }
  return found
}

/** How far a provider's clock may be ahead of ours, in seconds. */
const aheadSeconds = 300

/** Nothing has ever cost a quadrillion dollars. */
const maxPrice = 10n ** 15n

/**
 * How long after the last price, in seconds, a price a hundred times as high, or a hundredth, counts as a slip of the
 * provider; a later one is believed.
 */
const slipSeconds = 3_600
const slipFactor = 100n

/** Why a quote is not believed; `unchanged` is no fault. */
export type Disbelief =
  | "unchanged"
  | "price_not_positive"
  | "price_absurd"
  | "price_jump"
  | "negative_figure"
  | "from_the_future"
  | "too_old"

/**
 * Why a quote must not take the place of the last rate; undefined where the quote may. `now` is in seconds since the Unix
 * epoch. Nothing is corrected: a quote that is not believed is dropped, and the last good rate keeps its time.
 *
 * @example
 * ```ts
 * import * as Rate from "@headwater/core/market/Rate"
 *
 * const now = 1_800_000_000
 * const last = { at: now - 300, amount: "2.5" }
 * Rate.disbelief({ at: now, amount: "2.6" }, last, now) // => undefined
 * Rate.disbelief({ at: now, amount: "-1" }, last, now) // => "price_not_positive"
 * ```
 */
export const disbelief = (quote: Quote, last: Rate | undefined, now: number): Disbelief | undefined => {
  const price = units(quote.amount)
  if (price <= 0n) return "price_not_positive"
  if (price > maxPrice * 10n ** BigInt(scale)) return "price_absurd"
  const figures = [quote.volume24h, quote.marketCap, quote.circulatingSupply, quote.maxSupply]
  if (figures.some((figure) => figure?.startsWith("-"))) return "negative_figure"
  if (quote.at > now + aheadSeconds) return "from_the_future"
  if (quote.at < now - maxAgeSeconds) return "too_old"
  if (last === undefined) return undefined
  if (quote.at < last.at || (quote.at === last.at && quote.amount === last.amount)) return "unchanged"
  const before = units(last.amount)
  const jumps = price > before * slipFactor || price * slipFactor < before
  return jumps && quote.at - last.at < slipSeconds ? "price_jump" : undefined
}
