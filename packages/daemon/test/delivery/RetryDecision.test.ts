import { assert, describe, it } from "@effect/vitest"
import * as RetryDecision from "@headwater/daemon/delivery/RetryDecision"
import * as Effect from "effect/Effect"

const profile = { delays: [1000, 2000], jitter: 0 }
const decide = (attempts: number, status?: number, retryAfter?: number) =>
  RetryDecision.decide(profile, { attempts, status, retryAfter })

describe("RetryDecision", () => {
  it.effect(
    "retries by the profile what was not answered, or answered with an error, says when half have failed, then gives up",
    () =>
      Effect.gen(function* () {
        for (const status of [undefined, 301, 404, 500]) {
          assert.deepStrictEqual(yield* decide(1, status), { kind: "retry", delayMillis: 1000, retriesLeft: undefined })
          assert.deepStrictEqual(yield* decide(2, status), { kind: "retry", delayMillis: 2000, retriesLeft: 1 })
          assert.deepStrictEqual(yield* decide(3, status), { kind: "refuse", reason: "maximum_retry_attempts_reached" })
        }
      })
  )

  it.effect("gives up at once on a receiver that is gone", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* decide(1, 410, 5000), { kind: "refuse", reason: "receiver_gone" })
    })
  )

  it.effect("heeds the pause that a throttled receiver asks for, and no other's", () =>
    Effect.gen(function* () {
      for (const status of [429, 503]) {
        assert.deepStrictEqual(yield* decide(1, status, 9000), {
          kind: "retry",
          delayMillis: 9000,
          retriesLeft: undefined
        })
        assert.deepStrictEqual(yield* decide(4, status, 9000), {
          kind: "retry",
          delayMillis: 9000,
          retriesLeft: undefined
        })
        assert.deepStrictEqual(yield* decide(5, status, 9000), {
          ...{ kind: "refuse", reason: "maximum_retry_attempts_reached" }
        })
      }
      assert.deepStrictEqual(yield* decide(1, 500, 9000), { kind: "retry", delayMillis: 1000, retriesLeft: undefined })
    })
  )
})
