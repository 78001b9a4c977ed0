/** The JSON of nodes' answers as values; a large one is parsed in slices, and holds up nothing else. */
import * as Effect from "effect/Effect"
import * as DecimalText from "./DecimalText.ts"
import * as JsonPieces from "./internal/JsonPieces.ts"
import * as TimeSlice from "../../TimeSlice.ts"

/**
 * How the text becomes a value. `plain` is JSON.parse; `decimalText` turns every JSON number that is not a safe integer,
 * or that has a point or an exponent, into its text, so that no amount passes through a float.
 */
export type Numbers = "plain" | "decimalText"

const plain: JsonPieces.Parse = (text, before = "", after = "") => JSON.parse(before + text.toString() + after)

const decimalText: JsonPieces.Parse = (text, before = "", after = "") =>
  DecimalText.parse(before === "" ? text : Buffer.concat([Buffer.from(before), text, Buffer.from(after)]))

/** Fails where the text is no JSON. */
export const parse = (text: Buffer, numbers: Numbers): Effect.Effect<unknown, string> =>
  Effect.flatMap(
    TimeSlice.run(() => JsonPieces.read(text, numbers === "plain" ? plain : decimalText)),
    Effect.fromResult
  )
