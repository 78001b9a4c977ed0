/** Callbacks that are sent again in bulk. */
import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as SmallSteps from "@headwater/indexer/store/database/SmallSteps"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Plans from "../Plans.ts"
import * as Seed from "../Seed.ts"

const limit = 1_500
const otherChain = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provide(Layer.succeed(Limits.Limits, { ...Limits.defaultMaxima, waitingCallbacks: limit })),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`Recovery on ${store.name}`, (it) => {
    const subscribe = Effect.gen(function* () {
      const account = yield* Seed.account
      const subscription = yield* Seed.subscription(account, "https://receiver.test/")
      return { subscription, key: { account, chain: Seed.chain, referenceId: subscription.referenceId } }
    })
    /** As if all had been delivered. */
    const told = Effect.fnUntraced(function* ({ id }: Subscription) {
      const { query } = yield* Database
      const rows = yield* Seed.rows(id)
      for (const [i, row] of rows.entries()) {
        yield* query((db) =>
          db
            .updateTable("callback")
            .set({ state: "delivered", delivered: 1, sequence: i + 1, attempts: 1 })
            .where("id", "=", row.id)
        )
      }
      yield* query((db) => db.updateTable("subscription").set({ last_sequence: rows.length }).where("id", "=", id))
    })
    const due = (of: Subscription) =>
      Effect.map(Seed.rows(of.id), (rows) => rows.flatMap(({ sequence, state }) => (state === "due" ? [sequence] : [])))
    const all = Effect.gen(function* () {
      const { recover } = yield* Outbox
      while (yield* recover);
    })
    const provided = Effect.provide(services)

    it.effect.skipIf(store.name !== "sqlite")("looks at no subscription where there is none to send again", () =>
      Effect.gen(function* () {
        const { step } = yield* Effect.provideService(Recovery.make, Limits.Limits, Limits.defaultMaxima)
        const [plan] = yield* Plans.of("sqlite", step())
        assert.match(plan!, /SEARCH recovery USING .*SEARCH subscription USING INTEGER PRIMARY KEY/)
      }).pipe(provided)
    )

    it.effect("sends again what was told since a number or a time, and nothing that was retracted", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        const { query } = yield* Database
        yield* Seed.callbacks(subscription, 3, { created: 100 })
        yield* Seed.callbacks(subscription, 3, { created: 200, label: "b" })
        yield* told(subscription)
        yield* query((db) => db.updateTable("callback").set({ state: "retracted" }).where("sequence", "=", 5))
        assert.deepStrictEqual(yield* callbacks.recover(key, { after: 1, time: 200 }), {
          after: 1,
          last: 6,
          callbacks: 0
        })
        assert.deepStrictEqual((yield* callbacks.status(key)).recovery, { after: 1, last: 6, callbacks: 0 })
        yield* all
        assert.deepStrictEqual(yield* due(subscription), [4, 6])
        assert.isUndefined((yield* callbacks.status(key)).recovery)
        // Asked for twice, all is sent that either wants.
        yield* callbacks.recover(key, { after: 5 })
        yield* callbacks.recover(key, { after: 2, time: 200 })
        yield* all
        assert.deepStrictEqual(yield* due(subscription), [3, 4, 6])
        yield* (yield* Subscriptions).deactivate(subscription.id, "a reason")
        yield* callbacks.recover(key, {})
        yield* all
        assert.deepStrictEqual(yield* due(subscription), [], "while the subscription is inactive")
        yield* (yield* Subscriptions).activate(key)
        yield* all
        assert.deepStrictEqual(yield* due(subscription), [1, 2, 3, 4, 6])
      }).pipe(provided)
    )

    it.effect("is of a host, or of the whole account, on request", () =>
      Effect.gen(function* () {
        const { account, ...one } = yield* Effect.map(subscribe, ({ key, subscription }) => ({ ...key, subscription }))
        const other = yield* Seed.subscription(account, "https://other.test/")
        const foreign = yield* Effect.map(subscribe, ({ subscription }) => subscription)
        for (const subscription of [one.subscription, other, foreign]) {
          yield* Seed.callbacks(subscription, 2, { created: 100 })
          yield* told(subscription)
        }
        const dueOf = Effect.forEach([one.subscription, other, foreign], due)
        const failing = new DatabaseError({ cause: "full" })
        assert.strictEqual(yield* Effect.flip(Recovery.beginAll(account, {}, failing)), failing)
        assert.strictEqual((yield* Recovery.leftOf(account)).subscriptions, 0)
        assert.strictEqual(yield* Recovery.beginAll(account, { host: "other.test", time: 101 }), 1)
        yield* all
        assert.deepStrictEqual(yield* dueOf, [[], [], []])
        assert.strictEqual(yield* Recovery.beginAll(account, { host: "other.test" }), 1)
        yield* all
        assert.deepStrictEqual(yield* dueOf, [[], [1, 2], []])
        assert.strictEqual(yield* Recovery.beginAll(account, { chain: Seed.chain }), 2)
        assert.strictEqual(yield* Recovery.beginAll(account, { chain: otherChain }), 0)
        assert.strictEqual(yield* Recovery.beginAll(account, {}), 2)
        assert.strictEqual((yield* Recovery.leftOf(account)).subscriptions, 2)
        assert.isTrue((yield* Recovery.underWay()).some(({ subscriptions }) => subscriptions === 2))
        yield* all
        assert.deepStrictEqual(yield* dueOf, [[1, 2], [1, 2], []])
      }).pipe(provided)
    )

    it.effect("goes on in steps, and waits while too many callbacks of the account wait", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { recover } = yield* Outbox
        const { key, subscription } = yield* subscribe
        const { query } = yield* Database
        const count = 2 * SmallSteps.callbacksAtOnce + 10
        yield* Seed.callbacks(subscription, count)
        yield* query((db) =>
          db
            .updateTable("callback")
            .set(({ ref }) => ({ state: "delivered", delivered: 1, sequence: ref("id"), attempts: 1 }))
        )
        const first = (yield* Seed.rows(subscription.id))[0]!.id
        yield* query((db) => db.updateTable("subscription").set({ last_sequence: first + count - 1 }))
        const progress = Effect.map(callbacks.status(key), ({ recovery }) => recovery)
        yield* callbacks.recover(key, {})
        assert.isTrue(yield* recover)
        const at = { after: first + SmallSteps.callbacksAtOnce - 1, last: first + count - 1 }
        assert.deepStrictEqual(yield* progress, { ...at, callbacks: SmallSteps.callbacksAtOnce })
        assert.isTrue(yield* recover)
        assert.strictEqual((yield* due(subscription)).length, 2 * SmallSteps.callbacksAtOnce)
        // More than the limit wait: nothing is added until they are fewer, and other accounts have their turn meanwhile.
        const other = yield* subscribe
        yield* Seed.callbacks(other.subscription, 1)
        yield* query((db) =>
          db
            .updateTable("callback")
            .set({ state: "delivered", delivered: 1, sequence: 1, attempts: 1 })
            .where("subscription", "=", other.subscription.id)
        )
        yield* query((db) =>
          db.updateTable("subscription").set({ last_sequence: 1 }).where("id", "=", other.subscription.id)
        )
        yield* callbacks.recover(other.key, {})
        yield* all
        assert.strictEqual((yield* due(other.subscription)).length, 1)
        assert.strictEqual((yield* due(subscription)).length, 2 * SmallSteps.callbacksAtOnce)
        yield* query((db) => db.updateTable("callback").set({ state: "delivered" }))
        yield* all
        assert.strictEqual((yield* due(subscription)).length, 10)
        assert.isUndefined(yield* progress)
        assert.isFalse(yield* recover)
      }).pipe(provided)
    )

    it.effect("ends with its subscription", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        yield* Seed.callbacks(subscription, 1)
        yield* callbacks.recover(key, {})
        yield* (yield* Subscriptions).remove(key)
        assert.isFalse(yield* (yield* Outbox).recover)
      }).pipe(provided)
    )
  })
}
