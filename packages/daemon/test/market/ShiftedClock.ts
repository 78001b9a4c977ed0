/** A clock that really runs, at another time: recorded answers are of their day. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Runs an effect as if it began at `millis` since the Unix epoch; `set` moves the time. */
export const at = <A, E, R>(millis: number, use: (set: (millis: number) => void) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.service(Clock.Clock), (clock) => {
    let offset = 0
    const set = (millis: number) => {
      offset = millis - clock.currentTimeMillisUnsafe()
    }
    const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + offset
    const shifted: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe)
    })
    set(millis)
    return Effect.provideService(use(set), Clock.Clock, shifted)
  })
