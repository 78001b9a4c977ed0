/** Counts that an answer carries as JSON numbers. */
import * as Effect from "effect/Effect"
import { invalidField } from "../../contract/Errors.ts"

/** A count as a number; fails where a JSON number does not hold each digit (2^53 - 1). */
export const of = (attribute: string, value: bigint) =>
  value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Effect.succeed(Number(value))
    : Effect.fail(invalidField(attribute, "must be at most 2^53 - 1"))
