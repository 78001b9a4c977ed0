import { assert, describe, it } from "@effect/vitest"
import { CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as CopyDelivery from "@headwater/daemon/delivery/CopyDelivery"
import type { OwnFailures } from "@headwater/daemon/delivery/OwnFailures"
import { ReceiverClient } from "@headwater/daemon/delivery/ReceiverClient"
import * as RetryProfile from "@headwater/daemon/delivery/RetryProfile"
import { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"

const none = Layer.mergeAll(
  Layer.mock(ReceiverClient, { looksUp: () => false }),
  Layer.mock(CallbackTarget, { isAllowed: () => false })
)

describe("CopyDelivery", () => {
  it.effect("says once that the store is away, once more when it is away again, and what else fails meanwhile", () => {
    let away: string | undefined = "ECONNREFUSED"
    let looks = 0
    const outbox = Layer.mock(Outbox, {
      leaseCopy: () =>
        Effect.suspend(() => {
          looks++
          return away ? Effect.fail(new DatabaseError({ cause: new Error(away) })) : Effect.undefined
        })
    })
    const lines: Array<string> = []
    const written = Logger.layer([Logger.map(Logger.formatSimple, (line) => void lines.push(line))])
    const said = () => lines.filter((line) => line.includes("Copies of callbacks could not be leased")).length
    return Effect.gen(function* () {
      const { run } = yield* CopyDelivery.make({
        ...{ profile: RetryProfile.hosted, own: {} as OwnFailures, atOnce: 1, leaseMillis: 10_000 },
        ...{ attemptMillis: 5_000, lookMillis: 1_000, stopping: () => false }
      })
      yield* Effect.forkChild(run)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([looks, said()], [11, 1])
      away = undefined
      yield* TestClock.adjust("1 second")
      away = "ECONNREFUSED"
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([looks, said()], [22, 2])
      for (const reason of ["column is missing", "ECONNREFUSED", "column is missing"]) {
        away = reason
        yield* TestClock.adjust("5 seconds")
      }
      assert.deepStrictEqual([looks, said()], [37, 3])
    }).pipe(Effect.provide([outbox, none, written]), Effect.scoped)
  })
})
