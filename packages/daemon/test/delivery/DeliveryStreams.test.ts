import { assert, describe, it } from "@effect/vitest"
import { InvalidCallbackUrl } from "@headwater/core/events/CallbackUrl"
import { CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import * as DeliveryStreams from "@headwater/daemon/delivery/internal/DeliveryStreams"
import * as ReceiverHosts from "@headwater/daemon/delivery/ReceiverHosts"
import type { Lease, Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const leaseOf = (id: number, leasedUntil: number, url = "https://a.test/") => {
  const own = { account: 1, subscription: id, host: "a.test" }
  const callbacks = [{ ...own, id, attempts: 0 }]
  return { ...own, url, secrets: [], callbacks, full: true, leasedUntil, isCurrent: () => true } as never as Lease
}

const target = Layer.mock(CallbackTarget, {
  parse: (text) =>
    text.includes("inside")
      ? Effect.fail(new InvalidCallbackUrl({ rule: "must be outside" }))
      : Effect.sync(() => new URL(text)),
  isAllowed: () => true
})

describe("DeliveryStreams", () => {
  it.effect(
    "releases what it has no time for, but nothing of a lease that has ended: others may have that by now",
    () => {
      const outcomes: Array<Outcome> = []
      return Effect.gen(function* () {
        const streams = yield* DeliveryStreams.make({
          attempt: () => Effect.die("There is no time for it"),
          hosts: ReceiverHosts.make(yield* Delivery.DeliveryOptions),
          outcomes: { add: (outcome: Outcome) => void outcomes.push(outcome), notifyFlushed: () => {} } as never,
          ...{ attemptMillis: 10_000, stopping: () => false }
        })
        streams.add([leaseOf(1, 5000), leaseOf(2, 0)], [])
        yield* streams.ended
        assert.deepStrictEqual(
          outcomes.map(({ callback, kind }) => [callback.id, kind]),
          [[1, "released"]]
        )
      }).pipe(Effect.scoped, Effect.provide(target))
    }
  )

  it.effect("gives the place of each lease free, also where its URL is refused or its attempt breaks off", () => {
    const outcomes: Array<Outcome> = []
    const sent: Array<string> = []
    return Effect.gen(function* () {
      const hosts = ReceiverHosts.make({ ...(yield* Delivery.DeliveryOptions), perHost: 1 })
      const streams = yield* DeliveryStreams.make({
        attempt: ({ subscription }, _callback, { url }) =>
          subscription === 2
            ? Effect.die("A bug")
            : Effect.sync(() => {
                sent.push(`${subscription} ${url}`)
                return true
              }),
        hosts,
        outcomes: { add: (outcome: Outcome) => void outcomes.push(outcome), notifyFlushed: () => {} } as never,
        ...{ attemptMillis: 1000, stopping: () => false }
      })
      const urls = ["/", "/", "/inside", "/inside", "/other", "/"]
      streams.add(
        urls.map((path, i) => leaseOf(i + 1, 5000, `https://a.test${path}`)),
        []
      )
      yield* streams.ended
      assert.deepStrictEqual(sent, ["1 https://a.test/", "5 https://a.test/other", "6 https://a.test/"])
      assert.deepStrictEqual(
        outcomes.map(({ callback, kind }) => [callback.id, kind]),
        [3, 4].map((id) => [id, "refused"])
      )
      assert.strictEqual(hosts.inFlight(), 0)
      assert.deepStrictEqual(streams.followable(0), [])
    }).pipe(Effect.scoped, Effect.provide(target))
  })
})
