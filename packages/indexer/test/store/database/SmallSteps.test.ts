/** What one account has very many of is changed in small steps, between which others write; the outcome is that of one. */
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { Make } from "@headwater/indexer/store/chain/Projection"
import { Database } from "@headwater/indexer/store/database/Database"
import { callbacksAtOnce } from "@headwater/indexer/store/database/SmallSteps"
import * as CallbackProjection from "@headwater/indexer/store/subscriptions/CallbackProjection"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { sql } from "kysely"
import { stores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const many = 2 * callbacksAtOnce + 200
const host = "free.test"

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const block = (height: number, own: number, parent: number): Block => ({
  ...{ height, hash: hash(own), parent: hash(parent), time: height },
  ...{ transactions: [], transfers: [], spends: [] }
})

const capacity = {
  ...{ host, limit: 10, followOns: [], batchSize: 500, retriesFirst: false },
  ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100 }
}

/** Leases until nothing is due, as a sender whose receiver accepts everything; the ids in their order. */
const drain = Effect.gen(function* () {
  const outbox = yield* Outbox
  const sent: Array<number> = []
  while (true) {
    // A lease of what may not be sent is empty, and parks some of it.
    if ((yield* outbox.hosts).length === 0) return sent
    for (const { callbacks } of yield* outbox.lease([capacity], 60_000)) {
      sent.push(...callbacks.map(({ id }) => id))
      const attempt = { at: 1, duration: 1, status: 200 }
      yield* outbox.acknowledge(callbacks.map((callback) => ({ kind: "delivered", callback, attempt })))
    }
  }
})

const states = ({ id }: Pick<Subscription, "id">) =>
  Effect.map(Seed.rows(id), (rows) =>
    Object.fromEntries([...Map.groupBy(rows, ({ state }) => state)].map(([state, { length }]) => [state, length]))
  )

/** A chain of two blocks, on which an account that wants retractions has been told very much of the second. */
const told = Effect.gen(function* () {
  const { query } = yield* Database
  const account = yield* Seed.account
  yield* (yield* Accounts).setRetractions(account, true)
  const opened = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
  yield* opened.commit([block(1, 1, 0), block(2, 2, 1)])
  const subscription = yield* Seed.subscription(account, `https://${host}/`)
  yield* Seed.callbacks(subscription, many, { state: "delivered" })
  yield* query((db) => db.updateTable("callback").set({ sequence: sql<number>`id` }))
  return { opened, subscription }
})

const ascending = (numbers: ReadonlyArray<number>) => [...numbers].sort((a, b) => a - b)

for (const store of stores) {
  const layer = Layer.mergeAll(Accounts.layer, Outbox.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(hostPermission(new Set([host]))),
    Layer.provideMerge(Domains.layer),
    Layer.provideMerge(store.layer)
  )

  describe(`Very much of one account on ${store.name}`, () => {
    it.live("is parked by who would send it, and goes again in its order, what is new behind it", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const { query } = yield* Database
        const subscription = yield* Seed.subscription(yield* Seed.account, `https://${host}/`)
        const ids = yield* Seed.callbacks(subscription, many)
        const retried = ids.slice(-callbacksAtOnce)
        yield* query((db) =>
          db.updateTable("callback").set({ attempts: 3, sequence: sql<number>`id` }).where("id", "in", retried)
        )
        yield* subscriptions.deactivate(subscription.id, "test")
        assert.deepStrictEqual(yield* states(subscription), { held: callbacksAtOnce, due: many - callbacksAtOnce })
        assert.deepStrictEqual(yield* drain, [])
        assert.deepStrictEqual(yield* states(subscription), { held: many })

        yield* subscriptions.activate({ account: 1, chain: Seed.chain, referenceId: subscription.referenceId })
        assert.deepStrictEqual(yield* states(subscription), { due: callbacksAtOnce, held: many - callbacksAtOnce })
        const later = yield* Seed.callbacks(subscription, 3, { label: "later" })
        assert.deepStrictEqual(yield* drain, [...ascending(ids), ...ascending(later)])
      }).pipe(Effect.provide(layer))
    )

    it.live("goes once its host is verified, also where the process ended before it could", () =>
      Effect.gen(function* () {
        const [domains, outbox] = [yield* Domains, yield* Outbox]
        const { query } = yield* Database
        const account = yield* Seed.account
        const some = [
          yield* Seed.subscription(account, "https://other.test/1"),
          yield* Seed.subscription(account, "https://other.test/2")
        ]
        for (const one of some) yield* Seed.callbacks(one, many, { state: "held" })
        yield* domains.add(account, "other.test")
        yield* domains.setVerified(account, "other.test")
        const begun = { due: callbacksAtOnce, held: many - callbacksAtOnce }
        for (const one of some) assert.deepStrictEqual(yield* states(one), begun)

        yield* query((db) => db.updateTable("callback").set({ state: "held" }))
        yield* outbox.expire
        for (const one of some) assert.deepStrictEqual(yield* states(one), begun)
      }).pipe(Effect.provide(layer))
    )

    it.live("has its numbers where no more is parked, before an activation", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const opened = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
        yield* opened.commit([block(1, 1, 0)])
        const subscription = yield* Seed.subscription(yield* Seed.account, `https://${host}/`)
        yield* subscriptions.deactivate(subscription.id, "test")
        yield* Seed.callbacks(subscription, many, { state: "held" })
        const layer = Layer.fresh(Outbox.layer).pipe(
          Layer.provide(Layer.succeed(Retention, { finishedMillis: 1e9, parkedMillis: 1e9, parkedCount: many }))
        )
        assert.strictEqual(
          yield* Effect.provide(
            Effect.flatMap(Outbox, ({ endParking }) => endParking),
            layer
          ),
          1
        )
        const numbers = Effect.map(Seed.rows(subscription.id), (rows) => rows.map(({ sequence }) => sequence))
        const parked = Array.from({ length: many }, (_, i) => i + 1)
        assert.deepStrictEqual(yield* numbers, parked)

        yield* opened.commit([block(2, 2, 1)])
        yield* subscriptions.activate({ account: 1, chain: Seed.chain, referenceId: subscription.referenceId })
        assert.deepStrictEqual(yield* numbers, [...parked, many + 1])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is given up behind an unverified host, every one of it", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const subscription = yield* Seed.subscription(yield* Seed.account, "https://unverified.test/")
        yield* Seed.callbacks(subscription, many, { state: "held", created: 1 })
        assert.strictEqual(yield* outbox.expire, many)
        assert.deepStrictEqual(
          ascending((yield* Seed.rows(subscription.id)).map(({ sequence }) => sequence!)),
          Array.from({ length: many }, (_, i) => i + 1)
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("is removed behind its subscription, by another process where the first one ends", () =>
      Effect.gen(function* () {
        const { insertMany } = yield* Database
        const account = yield* Seed.account
        const removed = yield* Seed.subscription(account, `https://${host}/`)
        const staying = yield* Seed.subscription(account, `https://${host}/`)
        yield* Seed.callbacks(staying, 1)
        yield* Seed.callbacks(removed, many)
        const pending = { chain: 1, height: 1, due_height: 2, confirmation: 2, target: 2, each_confirmation: 0 }
        yield* insertMany(
          "waiting",
          Array.from({ length: many }, (_, i) => ({
            ...pending,
            ...{ subscription: removed.id, block_hash: hash(1), occurrence: String(i), item: "{}" }
          }))
        )
        // Its services end with the first process, and with them what it has begun.
        const key = { account, chain: Seed.chain, referenceId: removed.referenceId }
        yield* Effect.provide(
          Effect.flatMap(Subscriptions, ({ remove }) => remove(key)),
          Layer.fresh(Subscriptions.layer)
        )
        const left = (yield* Seed.rows(removed.id)).length
        assert.isAbove(left, 0)
        assert.isAtMost(left, many - callbacksAtOnce)
        yield* (yield* Outbox).prune
        assert.deepStrictEqual(yield* Seed.rows(removed.id), [])
        const { query } = yield* Database
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("waiting").select("id")), [])
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("removed_subscription").select("id")), [])
        assert.deepStrictEqual(yield* states(staying), { due: 1 })
      }).pipe(Effect.provide(layer))
    )

    it.live("is taken back before another block than the one that was rewound, where the process ended between", () =>
      Effect.gen(function* () {
        const { opened, subscription } = yield* told
        const sent = yield* Seed.rows(subscription.id)
        yield* opened.rewind(1)
        assert.deepStrictEqual(yield* states(subscription), { delivered: many })

        // Before the commit's transaction some are taken back, and no block is there.
        const killed: Make = (opened) =>
          Effect.map(CallbackProjection.make(opened), (projection) => ({
            ...projection,
            apply: { match: () => Effect.interrupt }
          }))
        const options = { record: "watched", undoDepth: 64, projections: [killed] } as const
        yield* Effect.exit((yield* ChainStore.open(Seed.chain, options)).commit([block(2, 3, 1)]))
        assert.deepStrictEqual(yield* states(subscription), { retracted: many, due: many })
        assert.deepInclude(yield* opened.cursor, { height: 1 })

        yield* opened.commit([block(2, 3, 1)])
        const after = (yield* Seed.rows(subscription.id)).slice(many, 2 * many)
        assert.deepStrictEqual(
          after.map(({ body, state }) => [state, JSON.parse(body).data.item.revertedIdempotencyKey]),
          sent.map(({ idempotency_key }) => ["due", idempotency_key]).reverse()
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is not taken back by a block that is refused", () =>
      Effect.gen(function* () {
        const { opened, subscription } = yield* told
        yield* opened.rewind(1)

        const refused = yield* Effect.flip(opened.commit([block(2, 3, 4)]))
        assert.strictEqual(refused._tag, "NotNext")
        assert.deepStrictEqual(yield* states(subscription), { delivered: many })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is told again as far as it was taken back, where the rewound blocks come after all", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const account = yield* Seed.account
        yield* (yield* Accounts).setRetractions(account, true)
        const opened = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
        const subscription = yield* Seed.subscription(account, `https://${host}/`)
        const between = yield* Seed.subscription(account, `https://${host}/`)
        const blocks = [block(1, 1, 0), block(2, 2, 1), block(3, 3, 2)] as const
        yield* opened.commit(blocks.slice(0, 2))
        yield* Seed.callbacks(between, many)
        yield* opened.commit(blocks.slice(2))
        yield* query((db) => db.updateTable("callback").set({ state: "delivered", sequence: sql<number>`id` }))
        yield* opened.rewind(1)

        // The newest are taken back, and then no more: this clock stands still, and with it what waits between two steps.
        const clock = yield* Layer.build(TestClock.layer())
        const committing = yield* Effect.forkChild(Effect.provideContext(opened.commit([block(2, 4, 1)]), clock))
        while ((yield* states(subscription)).retracted === undefined) yield* Effect.sleep("5 millis")
        yield* Fiber.interrupt(committing)
        assert.deepInclude(yield* states(between), { retracted: 499, delivered: many + 3 - 499 })

        yield* opened.commit(blocks.slice(1))
        const told = (yield* Seed.rows(subscription.id)).map(({ body, state }) => {
          const { item } = JSON.parse(body).data
          return [item.height, state, item.revertedIdempotencyKey !== undefined]
        })
        assert.deepStrictEqual(told, [
          [1, "delivered", false],
          [2, "delivered", false],
          [3, "retracted", false],
          [3, "due", true],
          [3, "due", false]
        ])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is taken back with its block by whoever asks for the cursor, where the process ended between", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { opened, subscription } = yield* told
        yield* Seed.callbacks(subscription, many, { label: "unsent" })
        const sent = (yield* Seed.rows(subscription.id)).slice(0, many)

        const cursor = Effect.map(
          query((db) => db.selectFrom("chain").select(["height", "undo_to"])),
          ([row]) => row!
        )
        // What is due and pending is taken back before, in five steps.
        let steps = 6
        const killed: Make = (opened) =>
          Effect.map(CallbackProjection.make(opened), (projection) => ({
            ...projection,
            undoMuch: (undone, step) =>
              projection.undoMuch!(undone, (self) =>
                Effect.suspend(() => (steps-- > 0 ? step(self) : Effect.interrupt))
              )
          }))
        const options = { record: "watched", undoDepth: 64, projections: [killed] } as const
        const first = yield* ChainStore.open(Seed.chain, options)
        yield* Effect.exit(first.undo(1))
        assert.deepInclude(yield* states(subscription), { retracted: 500 })
        assert.deepStrictEqual(yield* cursor, { height: 2, undo_to: 1 })

        assert.deepStrictEqual(yield* opened.cursor, { height: 1, hash: hash(1) })
        assert.deepStrictEqual(yield* cursor, { height: 1, undo_to: null })
        const after = yield* Seed.rows(subscription.id)
        assert.isTrue(after.slice(0, many).every(({ state }) => state === "retracted"))
        assert.deepStrictEqual(
          after.slice(many).map(({ body, state }) => [state, JSON.parse(body).data.item.revertedIdempotencyKey]),
          sent.map(({ idempotency_key }) => ["due", idempotency_key]).reverse()
        )
        yield* opened.commit([block(2, 3, 1)])
        assert.deepStrictEqual(yield* cursor, { height: 2, undo_to: null })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
