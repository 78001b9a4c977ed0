import { assert, describe, it } from "@effect/vitest"
import { CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import * as DeliveryStreams from "@headwater/daemon/delivery/internal/DeliveryStreams"
import * as ReceiverHosts from "@headwater/daemon/delivery/ReceiverHosts"
import type { Lease, Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

describe("DeliveryStreams", () => {
  it.effect(
    "releases what it has no time for, but nothing of a lease that has ended: others may have that by now",
    () => {
      const outcomes: Array<Outcome> = []
      const lease = (id: number, leasedUntil: number) => {
        const own = { account: 1, subscription: id, host: "a.test" }
        const callbacks = [{ ...own, id, attempts: 0 }]
        return {
          ...own,
          url: "https://a.test/",
          secrets: [],
          callbacks,
          leasedUntil,
          isCurrent: () => true
        } as never as Lease
      }
      return Effect.gen(function* () {
        const streams = yield* DeliveryStreams.make({
          attempt: () => Effect.die("There is no time for it"),
          hosts: ReceiverHosts.make(yield* Delivery.DeliveryOptions),
          outcomes: { add: (outcome: Outcome) => void outcomes.push(outcome), notifyFlushed: () => {} } as never,
          ...{ attemptMillis: 10_000, stopping: () => false }
        })
        streams.add([lease(1, 5000), lease(2, 0)], [])
        yield* streams.ended
        assert.deepStrictEqual(
          outcomes.map(({ callback, kind }) => [callback.id, kind]),
          [[1, "released"]]
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Layer.mock(CallbackTarget, { parse: (text) => Effect.sync(() => new URL(text)), isAllowed: () => true })
        )
      )
    }
  )
})
