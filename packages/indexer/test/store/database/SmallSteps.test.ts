/** What one account has very many of is changed in small steps, between which others write; the outcome is that of one. */
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { callbacksAtOnce } from "@headwater/indexer/store/database/SmallSteps"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
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
  ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000 }
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
  yield* query((db) => db.updateTable("callback").set({ sequence: sql<number>`id`, height: 2 }))
  return { opened, subscription }
})

const options = { record: "watched", undoDepth: 64 } as const

/** The steps behind what has left the chain, until none is left. */
const takeBackAll = Effect.fnUntraced(function* (opened: ChainStore.ChainStore) {
  const { query } = yield* Database
  while ((yield* opened.fanOut).more);
  for (const table of ["undoing", "undone_block"] as const) {
    assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
  }
})

const ascending = (numbers: ReadonlyArray<number>) => [...numbers].sort((a, b) => a - b)

for (const store of takenStores(import.meta.url)) {
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
        const { query } = yield* Database
        const left = yield* query((db) => db.selectFrom("waiting").select("id"))
        assert.isAtMost(left.length, many - 250)
        assert.lengthOf(yield* Seed.rows(removed.id), many)
        yield* (yield* Outbox).prune
        assert.deepStrictEqual(yield* Seed.rows(removed.id), [])
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("waiting").select("id")), [])
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("removed_subscription").select("id")), [])
        assert.deepStrictEqual(yield* states(staying), { due: 1 })
      }).pipe(Effect.provide(layer))
    )

    it.live(
      "is taken back behind another block than the one that was rewound, also where that is not the first of a commit",
      () =>
        Effect.gen(function* () {
          const { opened, subscription } = yield* told
          const sent = yield* Seed.rows(subscription.id)
          yield* opened.rewind(0)
          yield* opened.commit([block(1, 1, 0), block(2, 3, 1)])
          assert.deepInclude(yield* opened.cursor, { height: 2, hash: hash(3) })
          assert.deepStrictEqual(yield* states(subscription), { delivered: many })

          // Two steps by a process that ends then, and the rest by another.
          for (let i = 0; i < 2; i++) yield* opened.fanOut
          const { retracted = 0 } = yield* states(subscription)
          assert.isAbove(retracted, 0)
          assert.isBelow(retracted, many)
          yield* takeBackAll(yield* ChainStore.open(Seed.chain, options))
          const after = (yield* Seed.rows(subscription.id)).slice(many)
          // Behind the retractions, what the blocks tell that came.
          assert.deepStrictEqual(
            after.splice(-2).map(({ body }) => JSON.parse(body).data.item.height),
            [1, 2]
          )
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

    it.live("is told again behind what takes it back, where the block that left comes again meanwhile", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const account = yield* Seed.account
        yield* (yield* Accounts).setRetractions(account, true)
        const opened = yield* ChainStore.open(Seed.chain, options)
        const subscription = yield* Seed.subscription(account, `https://${host}/`)
        const much = yield* Seed.subscription(account, `https://${host}/`)
        const other = yield* Seed.subscription(yield* Seed.account, `https://${host}/`)
        const blocks = [block(1, 1, 0), block(2, 2, 1)] as const
        yield* opened.commit(blocks)
        yield* Seed.callbacks(much, many)
        yield* query((db) => db.updateTable("callback").set({ state: "delivered", sequence: sql<number>`id` }))
        yield* query((db) => db.updateTable("callback").set({ height: 2 }).where("subscription", "=", much.id))

        const told = Effect.fnUntraced(function* ({ id }: Subscription) {
          return (yield* Seed.rows(id)).map(({ body, state }) => {
            const { item } = JSON.parse(body).data
            return [item.height, state, item.revertedIdempotencyKey !== undefined]
          })
        })
        yield* opened.undo(1)
        yield* opened.fanOut
        // The block comes while steps take back what the account was told; another account has no part in that.
        yield* opened.commit([block(2, 2, 1)])
        yield* opened.fanOut
        const before = [
          [1, "delivered", false],
          [2, "delivered", false]
        ]
        assert.deepStrictEqual((yield* told(subscription)).slice(0, 2), before)
        assert.isAtMost((yield* told(subscription)).filter(([, , isRetraction]) => isRetraction === false).length, 2)
        assert.deepStrictEqual(yield* told(other), before)

        yield* takeBackAll(opened)
        assert.deepStrictEqual(yield* told(subscription), [
          [1, "delivered", false],
          [2, "retracted", false],
          [2, "due", true],
          [2, "due", false]
        ])
        assert.deepStrictEqual(yield* told(other), before)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is taken back behind its block, while another account is told of the next one, and not again", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { opened, subscription } = yield* told
        const other = yield* Seed.subscription(yield* Seed.account, `https://${host}/`)
        yield* Seed.callbacks(subscription, many, { label: "unsent" })
        yield* query((db) => db.updateTable("callback").set({ height: 2 }))
        const sent = (yield* Seed.rows(subscription.id)).slice(0, many)
        yield* opened.undo(1)
        yield* opened.commit([block(2, 3, 1)])
        // The block is little, and tells the other one by itself; the first one is told when everything is taken back.
        assert.deepStrictEqual(yield* states(other), { due: 1 })
        yield* opened.fanOut
        const { delivered = 0, due = 0 } = yield* states(subscription)
        assert.isAbove(delivered + due, many)

        yield* takeBackAll(yield* ChainStore.open(Seed.chain, options))
        const after = yield* Seed.rows(subscription.id)
        assert.isTrue(after.slice(0, many).every(({ state }) => state === "retracted"))
        assert.deepStrictEqual(
          after.slice(many, -1).map(({ body, state }) => [state, JSON.parse(body).data.item.revertedIdempotencyKey]),
          sent.map(({ idempotency_key }) => ["due", idempotency_key]).reverse()
        )
        assert.deepInclude(JSON.parse(after.at(-1)!.body).data.item, { height: 2 })
        assert.deepStrictEqual(yield* states(other), { due: 1 })
        // Where the other block leaves too, what was retracted is not retracted again.
        yield* opened.undo(1)
        yield* takeBackAll(opened)
        assert.deepStrictEqual(yield* states(other), {})
        assert.deepStrictEqual(yield* states(subscription), { retracted: many, due: many })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is not sent where its blocks are rewound, and is sent once where they come again", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const { opened, subscription } = yield* told
        yield* query((db) => db.updateTable("callback").set({ state: "due", sequence: null }))
        const pending = {
          account: 1,
          chain: 1,
          height: 2,
          due_height: 3,
          confirmation: 2,
          target: 2,
          each_confirmation: 0
        }
        yield* insertMany(
          "waiting",
          Array.from({ length: many }, (_, i) => ({
            ...{ ...pending, subscription: subscription.id, block_hash: hash(2), occurrence: String(i), item: "{}" }
          }))
        )
        yield* opened.rewind(1)
        yield* opened.fanOut
        yield* opened.commit([block(2, 2, 1), block(3, 4, 2)])
        yield* takeBackAll(yield* ChainStore.open(Seed.chain, options))
        // What the two blocks tell, and nothing of before.
        assert.deepStrictEqual(
          (yield* Seed.rows(subscription.id)).map(({ body, state }) => [JSON.parse(body).data.item.height, state]),
          [
            [2, "due"],
            [3, "due"]
          ]
        )
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("waiting").select("id")), [])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is told of each block that left, the newest first, once, where those who ask for that are very many", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const account = yield* Seed.account
        const opened = yield* ChainStore.open(Seed.chain, options)
        yield* opened.commit([block(1, 1, 0), block(2, 2, 1), block(3, 3, 2)])
        yield* insertMany(
          "subscription",
          Array.from({ length: 300 }, (_, i) => ({
            ...{
              reference_id: `reverted ${i}`,
              account,
              chain: 1,
              revision: 0,
              event: "BLOCK_REVERTED" as const,
              address: null
            },
            ...{
              callback_url: `https://${host}/`,
              host,
              secret: null,
              confirmations: 1,
              created: 1,
              from_height: 1,
              active: 1
            }
          }))
        )
        yield* opened.undo(1)
        yield* opened.fanOut
        yield* takeBackAll(yield* ChainStore.open(Seed.chain, options))
        const bySubscription = Map.groupBy(
          yield* query((db) => db.selectFrom("callback").select(["subscription", "body", "height"]).orderBy("id")),
          ({ subscription }) => subscription
        )
        assert.strictEqual(bySubscription.size, 300)
        for (const own of bySubscription.values()) {
          assert.deepStrictEqual(
            own.map(({ body }) => JSON.parse(body).data.item.height),
            [3, 2]
          )
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
