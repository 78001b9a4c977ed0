import { assert, describe, it } from "@effect/vitest"
import * as DeliveryPoller from "@headwater/daemon/delivery/internal/DeliveryPoller"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"

/** Of receivers that nothing is sent to. */
const idle = {
  hosts: { isFull: () => false, capacities: () => [] },
  streams: { withdraw: () => {}, followable: () => [] },
  outcomes: { isStuck: () => false },
  ...{ leaseMillis: 10_000, busyMillis: 50, idleMillis: 500, gapMillis: 10, failureMillis: 2000 }
}

describe("DeliveryPoller", () => {
  it.effect("says that the store is away once, and again when it was there meanwhile with nothing to send", () => {
    let isAway = true
    const outbox = Layer.mock(Outbox, {
      nextWakeup: Effect.succeed(Effect.never),
      handedOver: Effect.undefined,
      hosts: Effect.suspend(() =>
        isAway ? Effect.fail(new DatabaseError({ cause: new Error("ECONNREFUSED") })) : Effect.succeed([])
      )
    })
    const lines: Array<string> = []
    const written = Logger.layer([Logger.map(Logger.formatSimple, (line) => void lines.push(line))])
    const said = () => lines.filter((line) => line.includes("Callbacks could not be leased")).length
    return Effect.gen(function* () {
      const wakeup = yield* Latch.make()
      yield* Effect.forkChild(DeliveryPoller.run({ ...idle, wakeup } as never))
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(said(), 1)
      isAway = false
      yield* TestClock.adjust("5 seconds")
      isAway = true
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(said(), 2)
    }).pipe(Effect.provide([outbox, written, OwnOutages.layer]))
  })

  it.effect("says that nothing can be leased of a store that can be written", () => {
    let fails = false
    let isStuck = false
    let waits = false
    const lock = Latch.makeUnsafe(false)
    const outbox = Layer.mock(Outbox, {
      nextWakeup: Effect.succeed(Effect.never),
      handedOver: Effect.undefined,
      hosts: Effect.suspend(() =>
        fails
          ? Effect.fail(new DatabaseError({ cause: new Error("query_wait_timeout") }))
          : Effect.as(waits ? lock.await : Effect.void, [])
      )
    })
    return Effect.gen(function* () {
      const { begin, end, lasting } = yield* OwnOutages
      const lacks = Effect.map(lasting, (all) => all.map(({ error, lack }) => `${lack}: ${error}`))
      const wakeup = yield* Latch.make()
      const outcomes = { isStuck: () => isStuck }
      yield* Effect.forkScoped(DeliveryPoller.run({ ...idle, outcomes, wakeup } as never))
      yield* Effect.addFinalizer(() => lock.open)
      yield* TestClock.adjust("1 minute")
      fails = true
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(yield* lacks, [])
      yield* TestClock.adjust("5 seconds")
      assert.match((yield* lacks).join(), /^leases: .*query_wait_timeout/)
      fails = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* lacks, [])

      isStuck = true
      yield* TestClock.adjust("15 seconds")
      assert.match((yield* lacks).join(), /^leases: what came of callbacks/)
      isStuck = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* lacks, [])

      // As where an operator's statement has a lock on the table.
      waits = true
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(yield* lacks, [])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* lacks, ["leases: no answer within 10 s"])
      waits = false
      yield* lock.open
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* lacks, [])

      // A store that is away is said as such.
      yield* begin("store", "away")
      fails = true
      yield* TestClock.adjust("1 minute")
      yield* end("store")
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* lacks, [])
    }).pipe(Effect.provide([outbox, OwnOutages.layer]))
  })
})
