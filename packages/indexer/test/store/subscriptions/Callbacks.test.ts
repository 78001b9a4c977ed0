import { assert, layer } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { callbackBodies } from "@headwater/core/events/CallbackBody"
import type { EventType } from "@headwater/core/events/EventType"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import type { OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as SecretRotation from "@headwater/indexer/store/subscriptions/SecretRotation"
import {
  type Subscription,
  type SubscriptionKey,
  Subscriptions
} from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { sql } from "kysely"
import { stores, takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const leaseMillis = 60_000
let receivers = 0
/** A receiver of one test alone: what others leave to be sent is none of its business. */
const receiver = () => `https://receiver${receivers++}.test/`
const capacitiesOf = ({ callbackUrl }: Pick<Subscription, "callbackUrl">) => [
  {
    host: new URL(callbackUrl).hostname,
    limit: 10,
    followOns: [],
    batchSize: 10,
    accountCursor: 0,
    accounts: new Map(),
    accountLimit: 100,
    callbacks: 10_000,
    retriesFirst: false
  }
]
const delivered = (callback: OutboxMessage) =>
  ({ kind: "delivered", callback, attempt: { at: 1000, duration: 7, status: 200 } }) as const

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )

  layer(services, { excludeTestServices: true })(`Callbacks on ${store.name}`, (it) => {
    const subscribe = Effect.gen(function* () {
      const account = yield* Seed.account
      const subscription = yield* Seed.subscription(account, receiver(), "first")
      return { subscription, key: { account, chain: Seed.chain, referenceId: subscription.referenceId } }
    })
    const sendAll = Effect.fnUntraced(function* (of: Subscription) {
      const outbox = yield* Outbox
      const leases = yield* outbox.lease(capacitiesOf(of), leaseMillis)
      yield* outbox.acknowledge(leases.flatMap(({ callbacks }) => callbacks.map(delivered)))
      return leases
    })

    it.effect("is a feed without gaps, whether callbacks are first sent or first read", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const outbox = yield* Outbox
        const { key, subscription } = yield* subscribe
        assert.deepInclude(yield* callbacks.list(key, { after: 0, limit: 10 }), { callbacks: [], hasMore: false })
        yield* Seed.callbacks(subscription, 2)
        yield* sendAll(subscription)
        yield* Seed.callbacks(subscription, 5, { label: "more" })
        const first = yield* callbacks.list(key, { after: 0, limit: 3 })
        assert.isTrue(first.hasMore)
        assert.deepStrictEqual(
          first.callbacks.map(({ attempts, sequence, state }) => [sequence, state, attempts.length]),
          [
            [1, "delivered", 1],
            [2, "delivered", 1],
            [3, "due", 0]
          ]
        )
        assert.deepStrictEqual(first.callbacks[0]!.attempts, [{ at: 1000, duration: 7, status: 200 }])
        assert.strictEqual(JSON.parse(first.callbacks[2]!.body).data.item.height, 100)
        // What was read keeps its number when it is sent.
        const [lease] = yield* outbox.lease(capacitiesOf(subscription), leaseMillis)
        assert.deepStrictEqual(
          lease!.callbacks.map(({ sequence }) => sequence),
          [3, 4, 5, 6, 7]
        )
        assert.strictEqual(lease!.callbacks[0]!.idempotencyKey, first.callbacks[2]!.idempotencyKey)
        yield* outbox.acknowledge(lease!.callbacks.map(delivered))
        const rest = yield* callbacks.list(key, { after: 3, limit: 10 })
        assert.isFalse(rest.hasMore)
        assert.deepStrictEqual(
          rest.callbacks.map(({ sequence }) => sequence),
          [4, 5, 6, 7]
        )
      })
    )

    it.effect("waits for what is not there yet", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        const empty = yield* callbacks.list(key, { after: 0, limit: 10 }, 120)
        assert.deepStrictEqual(empty.callbacks, [])
        // On a clock that stands still nothing but the wake ends the wait.
        const waiting = yield* Effect.forkChild(
          callbacks.list(key, { after: 0, limit: 10 }, 10_000).pipe(Effect.provide(TestClock.layer()))
        )
        yield* Effect.sleep("50 millis")
        yield* Seed.callbacks(subscription, 1)
        yield* (yield* Database).signals.send("callbacks")
        const found = yield* Fiber.join(waiting)
        assert.strictEqual(found.callbacks.length, 1)
        yield* sendAll(subscription)
      })
    )

    it.effect("refuses a place that is none of the store's as it is now", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        yield* Seed.callbacks(subscription, 2)
        const { epoch } = yield* callbacks.list(key, { after: 0, limit: 10 })
        for (const after of [0, 1, 2]) yield* callbacks.list(key, { after, epoch, limit: 10 })
        const beyond = yield* Effect.flip(callbacks.list(key, { after: 3, limit: 10 }, 1e6))
        assert.match(beyond.message, /^The position 3 is beyond the feed's last number, 2: .*startingAfter=0/)
        yield* StoreEpoch.renew
        assert.lengthOf((yield* callbacks.list(key, { after: 1, limit: 10 })).callbacks, 1, "a number without epoch")
        const former = yield* Effect.flip(callbacks.list(key, { after: 1, epoch, limit: 10 }, 1e6))
        assert.strictEqual(former._tag, "PositionRefused")
        assert.match(former.message, /restored from a backup.*startingAfter=0.*idempotencyKey is known/)
        yield* sendAll(subscription)
      })
    )

    it.effect("is seen by its own account only", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        yield* Seed.callbacks(subscription, 1)
        yield* sendAll(subscription)
        const stranger = { ...key, account: yield* Seed.account }
        const page = { after: 0, limit: 1 }
        const { idempotencyKey } = (yield* callbacks.list(key, page)).callbacks[0]!
        for (const refused of [
          callbacks.list(stranger, page),
          callbacks.status(stranger),
          callbacks.test(stranger),
          callbacks.redeliver(stranger, idempotencyKey)
        ]) {
          assert.strictEqual(
            (yield* Effect.flip(refused as Effect.Effect<unknown, { _tag: string }>))._tag,
            "SubscriptionNotFound"
          )
        }
        const other = yield* subscribe
        const failure = yield* Effect.flip(callbacks.redeliver(other.key, idempotencyKey))
        assert.strictEqual(failure._tag, "CallbackNotFound")
      })
    )

    it.effect("sends one again under its key and number, however it ended", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const subscriptions = yield* Subscriptions
        const { query } = yield* Database
        const { key, subscription } = yield* subscribe
        const [id] = yield* Seed.callbacks(subscription, 3)
        const keys = (yield* Seed.rows(subscription.id)).map(({ idempotency_key }) => idempotency_key)
        const waiting = yield* Effect.flip(callbacks.redeliver(key, keys[2]!))
        assert.strictEqual(waiting._tag, "CallbackNotSendable")
        yield* sendAll(subscription)
        yield* callbacks.redeliver(key, keys[1]!)
        const [again] = yield* sendAll(subscription)
        assert.deepStrictEqual(
          again!.callbacks.map(({ idempotencyKey, sequence }) => [idempotencyKey, sequence]),
          [[keys[1]!, 2]]
        )
        const { attempts, state } = (yield* callbacks.list(key, { after: 1, limit: 1 })).callbacks[0]!
        assert.deepStrictEqual([state, attempts.length], ["delivered", 2])
        yield* query((db) => db.updateTable("callback").set({ state: "orphaned" }).where("id", "=", id!))
        assert.match((yield* Effect.flip(callbacks.redeliver(key, keys[0]!))).message, /no longer part of the chain/)
        yield* subscriptions.deactivate(subscription.id, "because")
        assert.match((yield* Effect.flip(callbacks.redeliver(key, keys[1]!))).message, /inactive/)
      })
    )

    it.effect("never sends one again whose block leaves the chain at the same moment", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const database = yield* Database
        const { key, subscription } = yield* subscribe
        const ids = yield* Seed.callbacks(subscription, 40)
        yield* database.query((db) =>
          db.updateTable("callback").set({ sequence: sql`id`, attempts: 1 }).where("subscription", "=", subscription.id)
        )
        const keys = (yield* Seed.rows(subscription.id)).map(({ idempotency_key }) => idempotency_key)
        const orphan = (id: number) =>
          Effect.andThen(
            Effect.sleep(id % 7),
            Effect.provideService(CallbackState.apply("orphan", sql`id = ${id}`), Database, database)
          )
        yield* Effect.all(
          [...keys.map((idempotencyKey) => Effect.exit(callbacks.redeliver(key, idempotencyKey))), ...ids.map(orphan)],
          { concurrency: "unbounded", discard: true }
        )
        // Whichever came first of the two, the callback is taken back in the end.
        assert.deepStrictEqual(
          (yield* Seed.rows(subscription.id)).map(({ state }) => state),
          keys.map(() => "orphaned")
        )
      })
    )

    it.effect("sends nothing again for a subscription that is deactivated at the same moment", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const subscriptions = yield* Subscriptions
        for (let i = 0; i < 20; i++) {
          const { key, subscription } = yield* subscribe
          yield* Seed.callbacks(subscription, 1)
          yield* sendAll(subscription)
          const [row] = yield* Seed.rows(subscription.id)
          yield* Effect.all(
            [
              Effect.exit(callbacks.redeliver(key, row!.idempotency_key)),
              Effect.andThen(Effect.sleep(i % 5), subscriptions.deactivate(subscription.id, "because"))
            ],
            { concurrency: "unbounded", discard: true }
          )
          assert.include(["delivered", "held"], (yield* Seed.rows(subscription.id))[0]!.state)
        }
      })
    )

    it.effect("sends a test that says that it is one", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const { key, subscription } = yield* subscribe
        const made = yield* callbacks.test(key)
        assert.isUndefined(made.sequence)
        const { data, ...rest } = JSON.parse(made.body)
        assert.deepStrictEqual(rest, {
          apiVersion: "2024-12-12",
          referenceId: subscription.referenceId,
          idempotencyKey: made.idempotencyKey
        })
        assert.strictEqual(data.event, "BLOCK_MINED_TEST")
        assert.deepInclude(data.item, { blockchain: "ethereum", network: "devnet" })
        const [lease] = yield* sendAll(subscription)
        assert.strictEqual(lease!.callbacks[0]!.body, made.body)
      })
    )

    it.effect("sends a test that looks like a callback of the chain's newest block, of the smallest amount", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const subscriptions = yield* Subscriptions
        const { insertMany, query } = yield* Database
        const chain = Chain.ofName("tron/nile")!
        const account = yield* Seed.account
        const address = Address.fromBytes(new Uint8Array(20).fill(7))
        const subscribed = Effect.fnUntraced(function* (event: EventType, confirmations: number) {
          const shared = { account, address, chain, allowDuplicates: true, secret: undefined }
          const callbackUrl = receiver()
          const { referenceId } = yield* subscriptions.create({ ...shared, event, confirmations, callbackUrl })
          return { account, chain, referenceId }
        })
        const testOf = Effect.fnUntraced(function* (event: EventType, key: SubscriptionKey) {
          const { body } = yield* callbacks.test(key)
          const decode = Schema.decodeUnknownEffect(callbackBodies[event] as Schema.Codec<unknown>, {
            onExcessProperty: "error"
          })
          yield* decode(JSON.parse(body))
          return JSON.parse(body).data.item
        })
        const key = yield* subscribed("ADDRESS_TOKENS_TRANSACTION_CONFIRMED", 2)
        const early = yield* testOf("ADDRESS_TOKENS_TRANSACTION_CONFIRMED", key)
        assert.strictEqual(early.minedInBlock.height, 0)
        const [row] = yield* query((db) => db.selectFrom("chain").select("id").where("name", "=", "tron/nile"))
        const hash = (height: number) => new Uint8Array(32).fill(height)
        yield* insertMany(
          "block",
          [5, 6, 7].map((height) => ({
            ...{ chain: row!.id, height, hash: hash(height), parent: hash(height - 1), time: 1_700_000_000 + height }
          }))
        )
        const item = yield* testOf("ADDRESS_TOKENS_TRANSACTION_CONFIRMED", key)
        assert.deepStrictEqual(item.minedInBlock, { height: 6, hash: "06".repeat(32), timestamp: 1_700_000_006 })
        assert.deepInclude(item, { blockchain: "tron", network: "nile", tokenType: "TRC-20", direction: "incoming" })
        assert.strictEqual(item.address, Address.encode(chain, address))
        assert.strictEqual(item.token.amount, "0.000001")
        assert.notStrictEqual(item.transactionId, early.transactionId)
        const each = "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        const first = yield* testOf(each, yield* subscribed(each, 3))
        assert.deepInclude(first, { currentConfirmations: 1, targetConfirmations: 3, unit: "TRX" })
        assert.strictEqual(first.minedInBlock.height, 7)
      })
    )

    it.effect("says how a subscription stands", () =>
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const subscriptions = yield* Subscriptions
        const outbox = yield* Outbox
        const { query } = yield* Database
        const { key, subscription } = yield* subscribe
        const fresh = yield* callbacks.status(key)
        assert.deepInclude(fresh, {
          lastMatch: undefined,
          lastDelivery: undefined,
          waiting: 0,
          parked: 0,
          parkedCount: 10_000
        })
        yield* query((db) => db.updateTable("chain").set({ height: 4711 }))
        yield* Seed.callbacks(subscription, 1, { created: 100 })
        yield* sendAll(subscription)
        yield* Seed.callbacks(subscription, 3, { created: 200, label: "b" })
        const [lease] = yield* outbox.lease([{ ...capacitiesOf(subscription)[0]!, batchSize: 1 }], leaseMillis)
        const [callback] = lease!.callbacks
        yield* outbox.acknowledge([{ kind: "retry", callback: callback!, due: 9e12, attempt: { at: 1, duration: 1 } }])
        assert.deepInclude(yield* callbacks.status(key), {
          evaluatedHeight: 4711,
          lastMatch: 200,
          lastDelivery: 1007,
          lastSequence: 2,
          waiting: 2,
          retrying: 1,
          parked: 0
        })
        yield* subscriptions.deactivate(subscription.id, "because")
        assert.deepInclude(yield* callbacks.status(key), { waiting: 0, retrying: 0, parked: 3, parkedSince: 200 })
      })
    )

    it.effect("changes a secret with an overlap", () =>
      Effect.gen(function* () {
        const { key, subscription } = yield* subscribe
        const outbox = yield* Outbox
        const secretsOfNext = Effect.fnUntraced(function* (of: Subscription, label: string) {
          yield* Seed.callbacks(of, 1, { label })
          const [lease] = yield* outbox.lease(capacitiesOf(of), leaseMillis)
          yield* outbox.acknowledge(lease!.callbacks.map(delivered))
          return lease!.secrets
        })
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "a"), ["first"])
        const rotated = yield* SecretRotation.rotate(key, "second", 60_000)
        assert.strictEqual(rotated.secret, "second")
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "b"), ["second", "first"])
        // As a client asks whose first answer was lost.
        yield* SecretRotation.rotate(key, "second", 60_000)
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "again"), ["second", "first"])
        yield* SecretRotation.rotate(key, "second", 0)
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "ended"), ["second"])
        yield* SecretRotation.rotate(key, "second", 60_000)
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "over"), ["second"])
        yield* SecretRotation.rotate(key, "third", 0)
        assert.deepStrictEqual(yield* secretsOfNext(subscription, "c"), ["third"])
      })
    )
  })
}

layer(
  Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Layer.succeed(Retention, { finishedMillis: 1, parkedMillis: 2, parkedCount: 3 })),
    Layer.provideMerge(stores[0]!.layer)
  ),
  { excludeTestServices: true }
)("Callbacks", (it) => {
  it.effect("shows the bounds of what may wait", () =>
    Effect.gen(function* () {
      const callbacks = yield* Callbacks
      const account = yield* Seed.account
      const { referenceId } = yield* Seed.subscription(account, "https://free.test/")
      const status = yield* callbacks.status({ account, chain: Seed.chain, referenceId })
      assert.deepInclude(status, { parkedMillis: 2, parkedCount: 3 })
    })
  )
})
