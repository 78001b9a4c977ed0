/** How long a piece of work takes. */
import * as Effect from "effect/Effect"
import { median } from "./Samples.ts"

export interface Measured {
  readonly seconds: number
  /** CPU seconds of this process, all its threads. */
  readonly cpu: number
}

export const timed = <E, R>(self: Effect.Effect<unknown, E, R>): Effect.Effect<Measured, E, R> =>
  Effect.gen(function* () {
    const begin = performance.now()
    const before = process.cpuUsage()
    yield* self
    const { system, user } = process.cpuUsage(before)
    return { seconds: (performance.now() - begin) / 1000, cpu: (system + user) / 1e6 }
  })

export const medians = (measured: ReadonlyArray<Measured>): Measured => ({
  seconds: median(measured.map(({ seconds }) => seconds)),
  cpu: median(measured.map(({ cpu }) => cpu))
})
