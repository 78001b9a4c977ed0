/**
 * A result of a node as the JSON that it is, which has been found to be JSON: for who reads bytes. Whether a result is given
 * as one or as its value, who has asked for JSON must be ready for both: small answers are values, and so are those of which
 * something is not as usual.
 */
import * as Effect from "effect/Effect"
import * as JsonAnswer from "./JsonAnswer.ts"

export class JsonText {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** The value of a result, whichever way it is given. */
export const value = (result: unknown): Effect.Effect<unknown> =>
  result instanceof JsonText ? Effect.orDie(JsonAnswer.parse(result.bytes, "plain")) : Effect.succeed(result)
