import { assert, describe, it } from "@effect/vitest"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as fc from "fast-check"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** Takes bytes of the reading at hand; where the reading gives way, this one is broken off. */
const take = (bytes: number) =>
  Effect.gen(function* () {
    const became = (yield* BytesInFlight.CurrentReceiver)!.take(bytes)
    return became === "gaveWay" ? yield* Effect.never : became
  })

/** Lets every other fiber go on as far as it can. */
const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow)

describe("BytesInFlight", () => {
  it.effect("holds the bytes of a block to its end, those of a request to that of its block or its own", () =>
    Effect.gen(function* () {
      const bytes = BytesInFlight.make(100)
      yield* bytes.block(
        Effect.gen(function* () {
          yield* bytes.request(take(30))
          assert.strictEqual(bytes.held(), 30)
          yield* BytesInFlight.part(bytes.request(take(50)))
          assert.strictEqual(bytes.held(), 30)
        })
      )
      assert.strictEqual(bytes.held(), 0)
      yield* bytes.request(Effect.map(take(40), () => assert.strictEqual(bytes.held(), 40)))
      assert.strictEqual(bytes.held(), 0)
      yield* Effect.exit(bytes.request(Effect.andThen(take(40), Effect.die("broken"))))
      assert.strictEqual(bytes.held(), 0)
    })
  )

  it.effect("a reading above the limit by itself is told so, and keeps what it has", () =>
    Effect.gen(function* () {
      const bytes = BytesInFlight.make(100)
      yield* bytes.block(
        Effect.gen(function* () {
          assert.strictEqual(yield* take(60), "taken")
          assert.strictEqual(yield* take(41), "tooLarge")
          assert.strictEqual(yield* take(40), "taken")
        })
      )
    })
  )

  it.effect("the largest gives way, never the oldest, and begins again once those before it are done", () =>
    Effect.gen(function* () {
      const bytes = BytesInFlight.make(100)
      const begun: Array<string> = []
      const ends = { old: Deferred.makeUnsafe<void>(), large: Deferred.makeUnsafe<void>() }
      const goOn = Deferred.makeUnsafe<void>()
      const old = bytes.block(
        Effect.gen(function* () {
          begun.push("old")
          yield* take(40)
          yield* Deferred.await(goOn)
          yield* take(45)
          yield* Deferred.await(ends.old)
        })
      )
      const readOf = (name: string, size: number) =>
        bytes.block(
          Effect.gen(function* () {
            begun.push(name)
            yield* take(size)
            yield* Deferred.await(ends.large)
          })
        )
      const first = yield* Effect.forkChild(old, { startImmediately: true })
      const large = yield* Effect.forkChild(readOf("large", 50), { startImmediately: true })
      const small = yield* Effect.forkChild(readOf("small", 10), { startImmediately: true })
      yield* settle
      assert.deepStrictEqual(begun, ["old", "large", "small"])
      assert.strictEqual(bytes.held(), 100)
      yield* Deferred.succeed(goOn, undefined)
      yield* settle
      assert.strictEqual(bytes.held(), 95)
      assert.deepStrictEqual(begun, ["old", "large", "small"])
      yield* Deferred.succeed(ends.old, undefined)
      yield* settle
      assert.deepStrictEqual(begun, ["old", "large", "small", "large"])
      yield* Deferred.succeed(ends.large, undefined)
      yield* Effect.forEach([first, large, small], Fiber.join)
      assert.strictEqual(bytes.held(), 0)
    })
  )

  it.effect("begins as many blocks as have room by the size of the last ones", () =>
    Effect.gen(function* () {
      const bytes = BytesInFlight.make(100)
      let atOnce = 0
      let most = 0
      const block = (size: number) =>
        bytes.block(
          Effect.gen(function* () {
            most = Math.max(most, ++atOnce)
            yield* take(size)
            yield* settle
            atOnce--
          })
        )
      const all = (size: number) =>
        Effect.forEach(Array.from({ length: 12 }), () => block(size), { concurrency: "unbounded" })
      yield* all(5)
      assert.strictEqual(most, 12)
      yield* block(30)
      most = 0
      yield* all(30)
      assert.strictEqual(most, 3)
    })
  )

  it.effect("never holds more than the limit and always comes to an end, whatever comes in, in whatever order", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              isBlock: fc.boolean(),
              chunks: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(3)), { maxLength: 6 }),
              waits: fc.nat(5)
            }),
            { maxLength: 12 }
          ),
          (readings) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const bytes = BytesInFlight.make(100)
                let done = 0
                const read = ({ chunks }: (typeof readings)[number]) =>
                  Effect.gen(function* () {
                    for (const [size, yields] of chunks) {
                      yield* take(size)
                      assert.isAtMost(bytes.held(), 100)
                      for (let i = 0; i < yields; i++) yield* Effect.yieldNow
                    }
                    done++
                  })
                yield* Effect.forEach(
                  readings,
                  (reading) =>
                    Effect.gen(function* () {
                      for (let i = 0; i < reading.waits; i++) yield* Effect.yieldNow
                      yield* reading.isBlock ? bytes.block(read(reading)) : bytes.request(read(reading))
                    }),
                  { concurrency: "unbounded" }
                )
                assert.strictEqual(done, readings.length)
                assert.strictEqual(bytes.held(), 0)
              })
            )
        ),
        { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 1) * 300 }
      )
    )
  )
})
