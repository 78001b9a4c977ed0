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

const colonNull = [":null", ": null"].map((text) => Buffer.from(text))

/** Takes the members that are null out of a value that was parsed. */
function* dropNulls(root: unknown): Generator<void, unknown> {
  const open: Array<unknown> = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    yield
    if (typeof value !== "object" || value === null) continue
    const members = value as Record<string, unknown>
    for (const name of Object.keys(members)) {
      const member = members[name]
      if (member === null && !Array.isArray(value)) delete members[name]
      else if (typeof member === "object" && member !== null) open.push(member)
    }
  }
  return root
}

/**
 * As {@link parse}, of an API without nulls: a member that is null is left out, as the node itself leaves out what there is none
 * of. What stands between (a proxy, a provider, another language's types) may write null for it.
 */
export const parseWithoutNulls = (text: Buffer, numbers: Numbers): Effect.Effect<unknown, string> =>
  colonNull.some((part) => text.includes(part))
    ? Effect.flatMap(parse(text, numbers), (value) => TimeSlice.run(() => dropNulls(value)))
    : parse(text, numbers)
