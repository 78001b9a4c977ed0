/**
 * Time by which a process measures how long something lasts or rests. Unlike the time of the day it is never put back: what
 * waits by that until a moment, waits for hours more where a clock that was ahead is put right.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** As {@link millis}, by a clock that is at hand. */
export const millisBy = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** Milliseconds since some moment, to be compared with others of this process alone. */
export const millis: Effect.Effect<number> = Effect.map(Clock.Clock, millisBy)
