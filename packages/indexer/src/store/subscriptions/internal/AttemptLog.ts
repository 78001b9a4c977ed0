/** The last attempts of a callback, as its row keeps them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Attempt = Schema.Struct({
  /** When it began, in milliseconds since the Unix epoch. */
  at: Schema.Int,
  /** Milliseconds until the answer or the failure. */
  duration: Schema.Int,
  /** Status of the answer, if there was one. */
  status: Schema.optionalKey(Schema.Int),
  /** Why it counts as failed; absent where the callback was accepted. */
  error: Schema.optionalKey(Schema.String)
})
export type Attempt = typeof Attempt.Type

const Log = Schema.fromJsonString(Schema.Array(Attempt))
const decodeLog = Schema.decodeUnknownEffect(Log)

/** How many are kept. */
export const kept = 20

/** Written by this module only: anything else in there is a defect. */
export const decode = (log: string): Effect.Effect<ReadonlyArray<Attempt>> =>
  log === "[]" ? Effect.succeed([]) : Effect.orDie(decodeLog(log))

export const append = (log: string, attempt: Attempt): Effect.Effect<string> =>
  log === "[]"
    ? Effect.succeed(`[${JSON.stringify(attempt)}]`)
    : Effect.map(decode(log), (attempts) => JSON.stringify([...attempts.slice(1 - kept), attempt]))
