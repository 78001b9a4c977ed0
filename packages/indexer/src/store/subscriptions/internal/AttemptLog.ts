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
const decodeLogUnsafe = Schema.decodeUnknownSync(Log)

/** How many are kept. */
const kept = 20

/** Written by this module only: anything else in there is a defect. */
export const decode = (log: string): Effect.Effect<ReadonlyArray<Attempt>> =>
  log === "[]" ? Effect.succeed([]) : Effect.orDie(decodeLog(log))

/** The log with one more attempt. No effect: run for every callback, where an effect would cost as much as the rest of it. */
export const append = (log: string, attempt: Attempt): string =>
  log === "[]" ? `[${JSON.stringify(attempt)}]` : JSON.stringify([...decodeLogUnsafe(log).slice(1 - kept), attempt])
