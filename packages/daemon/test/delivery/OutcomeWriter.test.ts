import { assert, describe, it } from "@effect/vitest"
import * as OutcomeWriter from "@headwater/daemon/delivery/OutcomeWriter"
import { DatabaseError } from "@headwater/indexer/store/database/Database"
import type { Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

const own = { account: 1, subscription: 1, host: "a.test" }

const outcome = (id: number): Outcome => ({
  kind: "released",
  callback: { ...own, id, idempotencyKey: "", sequence: id, body: "", attempts: 0, attemptLog: "[]", created: 0 }
})

/** An outbox that fails the first times, each after so many milliseconds, and the batches that it took. */
const failing = (times: number, millis = 0) => {
  const batches: Array<ReadonlyArray<number>> = []
  let left = times
  const layer = Layer.mock(Outbox, {
    acknowledge: (outcomes) =>
      Effect.suspend(() => {
        const failure = new DatabaseError({ cause: new Error("the disk is full") })
        if (left-- > 0) return Effect.delay(Effect.fail(failure), millis)
        batches.push(outcomes.map(({ callback }) => callback.id))
        return Effect.void
      })
  })
  return { batches, layer }
}

const make = OutcomeWriter.make({ batchSize: 3, batchMillis: 100, moments: 1, flushed: Effect.void })

describe("OutcomeWriter", () => {
  it.effect("writes outcomes when there are enough, or after a moment", () => {
    const { batches, layer } = failing(0)
    return Effect.gen(function* () {
      const outcomes = yield* make
      yield* Effect.forkChild(outcomes.run)
      for (const id of [1, 2]) outcomes.add(outcome(id))
      yield* TestClock.adjust(99)
      assert.deepStrictEqual(batches, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(batches, [[1, 2]])
      for (const id of [3, 4, 5]) outcomes.add(outcome(id))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(batches, [
        [1, 2],
        [3, 4, 5]
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("lets outcomes wait for more, until somebody waits for them", () => {
    const { batches, layer } = failing(0)
    return Effect.gen(function* () {
      const outcomes = yield* OutcomeWriter.make({ batchSize: 3, batchMillis: 100, moments: 4, flushed: Effect.void })
      yield* Effect.forkChild(outcomes.run)
      outcomes.add(outcome(1))
      yield* TestClock.adjust(399)
      assert.deepStrictEqual(batches, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(batches, [[1]])
      outcomes.add(outcome(2))
      yield* TestClock.adjust(150)
      outcomes.notifyFlushed()
      yield* TestClock.adjust(49)
      assert.deepStrictEqual(batches, [[1]])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(batches, [[1], [2]])
      for (const id of [3, 4]) outcomes.add(outcome(id))
      yield* TestClock.adjust(150)
      outcomes.add(outcome(5))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(batches, [[1], [2], [3, 4, 5]])
    }).pipe(Effect.provide(layer))
  })

  it.effect("notifies once those are written that were there, also after the store has failed", () => {
    const { batches, layer } = failing(1)
    return Effect.gen(function* () {
      const flushed: Array<number> = []
      const outcomes = yield* OutcomeWriter.make({
        batchSize: 3,
        batchMillis: 100,
        moments: 1,
        flushed: Effect.sync(() => flushed.push(batches.length))
      })
      yield* Effect.forkChild(outcomes.run)
      outcomes.add(outcome(1))
      outcomes.notifyFlushed()
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(flushed, [])
      yield* TestClock.adjust(5000)
      assert.deepStrictEqual(flushed, [1])
      outcomes.add(outcome(2))
      yield* TestClock.adjust(5000)
      assert.strictEqual(batches.length, 2)
      assert.deepStrictEqual(flushed, [1])
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits while the store fails, with those that come meanwhile", () => {
    const { batches, layer } = failing(2, 50)
    return Effect.gen(function* () {
      const outcomes = yield* make
      yield* Effect.forkChild(outcomes.run)
      outcomes.add(outcome(1))
      yield* TestClock.adjust(120)
      // While the store is failing.
      outcomes.add(outcome(2))
      yield* TestClock.adjust(380)
      outcomes.add(outcome(3))
      yield* TestClock.adjust(5000)
      assert.deepStrictEqual(batches, [[1, 2, 3]])
    }).pipe(Effect.provide(layer))
  })

  it.effect("writes at the end, if the store is back in time, and holds up no end for good", () => {
    const [soon, never] = [failing(3), failing(1000)]
    const end = (layer: Layer.Layer<Outbox>) =>
      Effect.gen(function* () {
        const outcomes = yield* make
        outcomes.add(outcome(7))
        const flush = yield* Effect.forkChild(outcomes.flush)
        yield* TestClock.adjust("10 seconds")
        assert.isDefined(flush.pollUnsafe())
      }).pipe(Effect.provide(layer))
    return Effect.gen(function* () {
      yield* end(soon.layer)
      assert.deepStrictEqual(soon.batches, [[7]])
      yield* end(never.layer)
      assert.deepStrictEqual(never.batches, [])
    })
  })

  it.effect("does not wait for a store that another one has taken the place of", () => {
    const cause = Object.assign(new Error("on another server"), { code: "EREPLACED" })
    let tries = 0
    const layer = Layer.mock(Outbox, {
      acknowledge: () =>
        Effect.suspend(() => {
          tries++
          return Effect.fail(new DatabaseError({ cause }))
        })
    })
    return Effect.gen(function* () {
      const outcomes = yield* make
      outcomes.add(outcome(1))
      yield* outcomes.flush
      assert.strictEqual(tries, 1)
    }).pipe(Effect.provide(layer))
  })
})
