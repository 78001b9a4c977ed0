/** Whole numbers that may be above 2^53, written digit by digit in the JSON of an answer. */
import * as Schema from "effect/Schema"

/** `JSON.rawJSON` (ECMAScript 2026), which the types of the present library do not know yet. */
const json = JSON as JSON & {
  readonly rawJSON: (text: string) => object
}

/** A number in JSON, which no type of the document tells: it may have more digits than a float holds. */
export const AnyInteger = Schema.Unknown

/** The number as an answer has it. */
export const of = (value: bigint): unknown =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : json.rawJSON(String(value))
