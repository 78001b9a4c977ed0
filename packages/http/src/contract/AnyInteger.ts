/** Whole numbers that may be above 2^53, written digit by digit in the JSON of an answer. */
import * as Schema from "effect/Schema"

/** `JSON.rawJSON` (ECMAScript 2026), which the types of the present library do not know yet. */
const json = JSON as JSON & {
  readonly rawJSON: (text: string) => Schema.Json
}

/** A number in JSON, without bounds: it may have more digits than a float holds. */
export const AnyInteger = Schema.Json.check(
  Schema.makeFilter(() => true, { toJsonSchema: () => ({ type: "integer" }) })
)

/** The number as an answer has it. */
export const of = (value: bigint): Schema.Json =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : json.rawJSON(String(value))
