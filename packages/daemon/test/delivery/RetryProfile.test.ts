import { assert, describe, it } from "@effect/vitest"
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { ReceiverClient } from "@headwater/daemon/delivery/ReceiverClient"
import * as RetryProfile from "@headwater/daemon/delivery/RetryProfile"
import type { OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"

const minute = 60_000
const hour = 60 * minute

/** Delays of `count` failed attempts one after another, with chance at its middle. */
const delays = (profile: RetryProfile.RetryProfile, count: number, retryAfter?: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, i) => i + 1),
    (attempts) => RetryProfile.delay({ ...profile, jitter: 0 }, attempts, retryAfter)
  )

/** As where one process has the store. */
const tasks = Layer.mock(RecurringTasks, { whenDue: (_, everyMillis, work) => Effect.as(work, everyMillis) })

describe("RetryProfile", () => {
  it.effect("doubles from five minutes, five times, as clients of the hosted service know it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* delays(RetryProfile.hosted, 6), [
        5 * minute,
        10 * minute,
        20 * minute,
        40 * minute,
        80 * minute,
        undefined
      ])
    })
  )

  it.effect("follows the schedule of Standard Webhooks", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* delays(RetryProfile.standardWebhooks, 10), [
        5000,
        5 * minute,
        30 * minute,
        2 * hour,
        5 * hour,
        10 * hour,
        14 * hour,
        20 * hour,
        24 * hour,
        undefined
      ])
    })
  )

  it.effect("varies each delay by at most a fifth, both ways", () =>
    Effect.gen(function* () {
      const drawn = yield* Effect.forEach(Array.from({ length: 500 }), () =>
        RetryProfile.delay(RetryProfile.hosted, 1, undefined)
      )
      const numbers = drawn.map((delay) => delay!)
      assert.isAtLeast(Math.min(...numbers), 240_000)
      assert.isAtMost(Math.max(...numbers), 360_000)
      assert.isBelow(Math.min(...numbers), 260_000)
      assert.isAbove(Math.max(...numbers), 340_000)
    }).pipe(Random.withSeed("jitter"))
  )

  it.effect("grants the pause that is asked for, up to an hour, and twice the number of retries", () =>
    Effect.gen(function* () {
      const asked = yield* delays(RetryProfile.hosted, 11, 2000)
      assert.deepStrictEqual(asked, [...Array(5).fill(2000), ...Array(5).fill(80 * minute), undefined])
      assert.deepStrictEqual(yield* delays(RetryProfile.hosted, 1, 0), [1000])
      assert.deepStrictEqual(yield* delays(RetryProfile.hosted, 1, 7 * hour), [hour])
    })
  )

  it.effect("spaces the attempts of a delivery through time", () =>
    Effect.gen(function* () {
      const callback: OutboxMessage = {
        ...{ account: 1, subscription: 1, host: "a.test" },
        id: 1,
        idempotencyKey: "key",
        sequence: 1,
        body: "{}",
        attempts: 0,
        attemptLog: "[]",
        created: 0
      }
      let due = 0
      let attempts = 0
      let leased = false
      let given: string | undefined
      const bounds: Array<ReadonlyArray<number>> = []
      const outbox = Layer.succeed(Outbox, {
        undone: Effect.void,
        receivers: Effect.succeed([]),
        newestBlock: Effect.undefined,
        nextWakeup: Effect.succeed(Effect.never),
        handedOver: Effect.undefined,
        hosts: Effect.map(Clock.currentTimeMillis, (now) =>
          due <= now && given === undefined && !leased ? [{ host: "a.test", account: 1 }] : []
        ),
        lease: (_, leaseMillis) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            leased = true
            return [
              {
                account: 1,
                subscription: 1,
                host: "a.test",
                url: "https://a.test/",
                secrets: [],
                callbacks: [{ ...callback, attempts }],
                full: false,
                failing: false,
                leasedUntil: now + leaseMillis,
                isCurrent: () => true
              }
            ]
          }),
        acknowledge: (outcomes) =>
          Effect.sync(() => {
            for (const outcome of outcomes) {
              leased = false
              if (outcome.kind === "retry") {
                attempts++
                due = outcome.due
              } else if (outcome.kind === "refused") given = outcome.reason
            }
          }),
        endLeases: Effect.void,
        prune: Effect.succeed(0),
        expire: Effect.succeed(0),
        endParking: Effect.succeed(0),
        hasten: (longest) =>
          Effect.sync(() => {
            bounds.push(longest)
            return 0
          }),
        recover: Effect.succeed(false),
        leaseCopy: () => Effect.undefined,
        advanceCopy: () => Effect.void
      })
      const times: Array<number> = []
      const client = Layer.succeed(ReceiverClient, {
        reaches: () => Effect.die("not asked"),
        isCertified: () => Effect.die("not asked"),
        looksUp: () => false,
        request: () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            times.push(now)
            return { status: 500, retryAfter: undefined, text: "" }
          })
      })
      const defaults = Context.get(Context.empty(), Delivery.DeliveryOptions)
      const profile = { ...RetryProfile.hosted, jitter: 0 }
      yield* Layer.build(
        Delivery.layer.pipe(
          Layer.provide([outbox, client, tasks]),
          Layer.provide([CallbackTarget.layer, OwnOutages.layer]),
          Layer.provide(Dns.layerStatic({})),
          Layer.provide(Layer.succeed(AllowedHosts, new Set<string>())),
          Layer.provide(Layer.succeed(Delivery.DeliveryOptions, { ...defaults, profile }))
        )
      )
      yield* TestClock.adjust("3 hours")
      const gaps = times.slice(1).map((time, i) => time - times[i]!)
      assert.strictEqual(times.length, 6)
      for (const [i, gap] of gaps.entries()) {
        assert.isAtLeast(gap, 5 * minute * 2 ** i)
        // The poller looks twice a second.
        assert.isAtMost(gap, 5 * minute * 2 ** i + 1500)
      }
      assert.strictEqual(given, "maximum_retry_attempts_reached")
      // At the start and each hour, it sends what is further off than any of these pauses.
      assert.deepStrictEqual(bounds, Array(4).fill([hour, hour, hour, hour, 80 * minute]))
    }).pipe(Effect.scoped)
  )
})
