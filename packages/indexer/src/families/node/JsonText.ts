/**
 * A result of a node as its text, which is known to be JSON: for a reader of bytes. Whoever asks for text gets either: small
 * results are values, and so are those of an answer in which something is not as usual.
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
