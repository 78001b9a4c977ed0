/** Copies of callbacks to other URLs, as the store keeps them. */
import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as CallbackCopies from "@headwater/indexer/store/subscriptions/CallbackCopies"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const leaseMillis = 20_000
const url = "https://elsewhere.test/"

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provide(Layer.succeed(HostPermission, (_, host) => Effect.succeed(host !== "unverified.test"))),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`Copies of callbacks on ${store.name}`, (it) => {
    const provided = Effect.provide(services)
    const told = Effect.fnUntraced(function* (account: number, count: number) {
      const { query } = yield* Database
      const subscription = yield* Seed.subscription(account, "https://receiver.test/")
      yield* Seed.callbacks(subscription, count)
      for (const [i, { id }] of (yield* Seed.rows(subscription.id)).entries()) {
        yield* query((db) =>
          db
            .updateTable("callback")
            .set({ state: "delivered", sequence: i + 1 })
            .where("id", "=", id)
        )
      }
      yield* query((db) =>
        db.updateTable("subscription").set({ last_sequence: count }).where("id", "=", subscription.id)
      )
      return subscription
    })
    const keyOf = (account: number, { referenceId }: Subscription) => ({ account, chain: Seed.chain, referenceId })
    const lease = Effect.gen(function* () {
      const leased = yield* (yield* Outbox).leaseCopy(leaseMillis)
      return leased === "later" ? undefined : leased
    })
    const leased = Effect.map(lease, (copy): CallbackCopies.LeasedCopy => {
      assert.isDefined(copy)
      return copy!
    })
    const sequences = ({ lease }: CallbackCopies.LeasedCopy) => lease.callbacks.map(({ sequence }) => sequence)
    const failed = (due: number | undefined) => ({ error: "answered 500", attempts: 1, due })

    it.effect("are of one sender at a time: what is asked for anew waits until the lease of before is over", () =>
      Effect.gen(function* () {
        const { advanceCopy } = yield* Outbox
        const callbacks = yield* Callbacks
        const account = yield* Seed.account
        const subscription = yield* told(account, 3)
        yield* callbacks.copy(keyOf(account, subscription), url, {})
        const first = yield* leased
        assert.deepStrictEqual(sequences(first), [1, 2, 3])
        yield* callbacks.copy(keyOf(account, subscription), "https://third.test/", { after: 1 })
        assert.isUndefined(yield* lease)
        yield* advanceCopy(first, { accepted: 3, failure: undefined })
        const second = yield* leased
        assert.deepStrictEqual([second.lease.url, sequences(second)], ["https://third.test/", [2, 3]])
        yield* advanceCopy(second, { accepted: 2, failure: undefined })
        assert.isUndefined((yield* callbacks.status(keyOf(account, subscription))).copy)
      }).pipe(provided)
    )

    it.effect("go on from the later lease: an outcome that comes after the end of its lease changes nothing", () =>
      Effect.gen(function* () {
        const { advanceCopy } = yield* Outbox
        const callbacks = yield* Callbacks
        const account = yield* Seed.account
        const subscription = yield* told(account, 120)
        const key = keyOf(account, subscription)
        yield* callbacks.copy(key, url, {})
        const first = yield* leased
        yield* TestClock.adjust(leaseMillis + 1)
        const second = yield* leased
        yield* advanceCopy(first, { accepted: 4, failure: undefined })
        assert.isUndefined(yield* lease, "the second lease is not over")
        yield* advanceCopy(second, { accepted: 50, failure: undefined })
        const third = yield* leased
        assert.deepStrictEqual(sequences(third)[0], 51)
        yield* advanceCopy(third, { accepted: 1, failure: failed(undefined) })
        const { copy } = yield* callbacks.status(key)
        assert.deepInclude(copy, { after: 51, callbacks: 51, error: "answered 500", due: undefined })
        assert.isUndefined(yield* lease)
      }).pipe(provided)
    )

    it.effect("of one account take two leases, whatever is asked for anew; attempts are counted over stops", () =>
      Effect.gen(function* () {
        const { advanceCopy } = yield* Outbox
        const callbacks = yield* Callbacks
        const [greedy, other] = [yield* Seed.account, yield* Seed.account]
        const mine: Array<Subscription> = []
        for (let i = 0; i < 5; i++) mine.push(yield* told(greedy, 2))
        const theirs = yield* told(other, 2)
        const all = Effect.forEach(mine, (one) => callbacks.copy(keyOf(greedy, one), url, {}), { discard: true })
        yield* all
        yield* callbacks.copy(keyOf(other, theirs), url, {})
        const [one, two, three] = [yield* leased, yield* leased, yield* leased]
        yield* all
        assert.isUndefined(yield* lease)
        const ours = [one, two, three].find(({ lease }) => lease.account === other)!
        yield* advanceCopy(ours, { accepted: 0, failure: { ...failed(0), attempts: 5 } })
        const again = yield* leased
        assert.strictEqual(again.attempts, 5)
        yield* advanceCopy(again, { accepted: 0, failure: undefined })
        assert.strictEqual((yield* leased).attempts, 5)
      }).pipe(provided)
    )

    it.effect("wait for the verification of their host, and stop when that takes too long", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const account = yield* Seed.account
        const subscription = yield* told(account, 1)
        const key = keyOf(account, subscription)
        yield* callbacks.copy(key, "https://unverified.test/", {})
        assert.isUndefined(yield* lease)
        const copy = Effect.map(callbacks.status(key), ({ copy }) => copy)
        assert.strictEqual((yield* copy)?.error, "the host is not verified")
        assert.isDefined((yield* copy)?.due)
        yield* TestClock.adjust("8 days")
        assert.isUndefined(yield* lease)
        assert.isUndefined((yield* copy)?.due)
        yield* TestClock.adjust("31 days")
        yield* CallbackCopies.prune(30 * 86_400_000)
        assert.isUndefined(yield* copy)
      }).pipe(provided)
    )
  })
}
