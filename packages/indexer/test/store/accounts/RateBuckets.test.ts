import { assert, describe, it } from "@effect/vitest"
import * as RateBuckets from "@headwater/indexer/store/accounts/RateBuckets"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as TestClock from "effect/testing/TestClock"
import { type locations, taken } from "../../../../../test/Stores.ts"

/** Two daemons on one store, where there can be two. */
const limiters = Effect.fnUntraced(function* (location: (typeof locations)[number]["location"], count: number) {
  const where = yield* location
  const one = RateLimiter.layer.pipe(Layer.provide(RateBuckets.layer), Layer.provide(Database.layer(where)))
  const built = yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(Layer.build(Layer.fresh(one)), (context) => RateLimiter.RateLimiter.pipe(Effect.provide(context)))
  )
  return yield* Effect.all(built)
})

for (const { location, name } of taken(import.meta.url)) {
  describe(`Rates on ${name}`, () => {
    it.effect("are one over all daemons, in whatever order and at whatever moment they ask", () =>
      Effect.gen(function* () {
        const daemons = yield* limiters(location, name === "postgres" ? 2 : 1)
        const consume = (tokens: number, i: number, onExceeded: "fail" | "delay" = "fail") =>
          daemons[i % daemons.length]!.consume({
            ...{ algorithm: "token-bucket", key: "1", limit: 1_000, window: "10 seconds" },
            ...{ tokens, onExceeded }
          })
        const passed = (count: number) =>
          Effect.map(
            Effect.forEach(Array.from({ length: count }), (_, i) => Effect.isSuccess(consume(10, i)), {
              concurrency: 10
            }),
            (all) => all.filter((one) => one).length
          )
        assert.strictEqual(yield* passed(150), 100)
        // A second brings a hundred back.
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(yield* passed(50), 10)
        // A debt is paid back before anything else is let through.
        yield* consume(500, 0, "delay")
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* passed(5), 0)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(yield* passed(50), 10)
      }).pipe(Effect.scoped)
    )

    it.effect("have spent what was spent: what daemons took beyond that goes back", () =>
      Effect.gen(function* () {
        const daemons = yield* limiters(location, name === "postgres" ? 2 : 1)
        const consume = (tokens: number, i: number) =>
          daemons[i % daemons.length]!.consume({
            ...{ algorithm: "token-bucket", key: "1", limit: 1_000, window: "1000 seconds" },
            ...{ tokens, onExceeded: "fail" }
          })
        // One token comes a second, and two are spent; a share of the bucket is fifty.
        for (let second = 0; second < 100; second++) {
          for (const [i] of daemons.entries()) yield* consume(2 / daemons.length, i)
          yield* TestClock.adjust("1001 millis")
        }
        const { remaining } = yield* consume(1, 0)
        assert.isAbove(remaining, 850 - 1_000 / 20)
      }).pipe(Effect.scoped)
    )

    it.effect("come back after a clock that was ahead was put right", () =>
      Effect.gen(function* () {
        const daemons = yield* limiters(location, name === "postgres" ? 2 : 1)
        const passed = (count: number) =>
          Effect.map(
            Effect.forEach(Array.from({ length: count }), (_, i) =>
              Effect.isSuccess(
                daemons[i % daemons.length]!.consume({
                  ...{ algorithm: "token-bucket", key: "1", limit: 1_000, window: "10 seconds" },
                  ...{ tokens: 10, onExceeded: "fail" }
                })
              )
            ),
            (all) => all.filter((one) => one).length
          )
        yield* TestClock.setTime(3_600_000)
        assert.strictEqual(yield* passed(150), 100)
        yield* TestClock.setTime(0)
        assert.strictEqual(yield* passed(1), 0)
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* passed(150), 50)
      }).pipe(Effect.scoped)
    )
  })
}
