/** The present by the clock, in the unit of blocks and rows: seconds since the Unix epoch. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export const seconds: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))
