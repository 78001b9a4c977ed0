import { assert, describe, it } from "@effect/vitest"
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import * as CallbackPartitions from "@headwater/indexer/store/subscriptions/internal/CallbackPartitions"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Removal from "@headwater/indexer/store/subscriptions/Removal"
import * as Retractions from "@headwater/indexer/store/subscriptions/Retractions"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { locations } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"
import * as Seed from "../Seed.ts"

const dayMillis = 86_400_000
const keeping = { finishedMillis: 30 * dayMillis, restMillis: dayMillis }
const host = "free.test"
const postgres = locations.find(({ name }) => name === "postgres")

const fresh = <A, E>(
  self: Effect.Effect<A, E, AccountFeed | Callbacks | Outbox | Subscriptions | Database>
): Effect.Effect<A, unknown> =>
  Effect.flatMap(postgres!.location, (location) =>
    Effect.provide(
      self,
      AccountFeed.layer.pipe(
        Layer.provideMerge(Callbacks.layer),
        Layer.provideMerge(Outbox.layer),
        Layer.provideMerge(Subscriptions.layer),
        Layer.provideMerge(Database.layer(location)),
        Layer.provideMerge(
          Layer.succeed(Retention, {
            finishedMillis: keeping.finishedMillis,
            ...{ parkedMillis: 1e12, parkedCount: 1e6 }
          })
        )
      )
    )
  ).pipe(Effect.scoped)

const subscribe = Effect.gen(function* () {
  const account = yield* Seed.account
  const subscription = yield* Seed.subscription(account, `https://${host}/`)
  const key = { account, chain: Seed.chain, referenceId: subscription.referenceId }
  return { account, key, subscription }
})

/** Callbacks of a state, with numbers from `from` on, that were made some days ago. */
const ended = Effect.fnUntraced(function* (
  subscription: Subscription,
  count: number,
  { days = 2, state = "delivered" as CallbackState.State, label = "", from = 1 } = {}
) {
  const { query } = yield* Database
  const created = (yield* Clock.currentTimeMillis) - days * dayMillis
  const ids = yield* Seed.callbacks(subscription, count, { state, label, created })
  const first = ids[0]!
  const sequence = sql<number>`id - ${first} + ${from}`
  yield* query((db) => db.updateTable("callback").set({ sequence, attempts: 1 }).where("id", "in", ids))
  const last = from + count - 1
  yield* query((db) => db.updateTable("subscription").set({ last_sequence: last }).where("id", "=", subscription.id))
  return ids
})

const places = Effect.fnUntraced(function* (subscription: Subscription) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db
      .selectFrom("every_callback")
      .select(["idempotency_key", "state", "past_day"])
      .where("subscription", "=", subscription.id)
      .orderBy("sequence")
      .orderBy("id")
  )
  return found.map(({ idempotency_key, past_day, state }) => [
    ...[idempotency_key.replace(`${subscription.referenceId}-`, ""), state, past_day > 0 ? "past" : "present"]
  ])
})

const move = CallbackPartitions.move(keeping)

/** As a commit does. */
const enter = Effect.fnUntraced(function* (
  { account, subscription }: Effect.Success<typeof subscribe>,
  labels: ReadonlyArray<string>,
  birth: CallbackState.Birth = "matched"
) {
  const { transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const callbacks = labels.map((label): CallbackState.NewCallback => {
    const idempotency_key = `${subscription.referenceId}-${label}`
    const body = JSON.stringify({ idempotencyKey: idempotency_key, data: { item: {} } })
    return {
      ...{ subscription: subscription.id, host, account, chain: 1, height: 100 },
      ...{ idempotency_key, event: "BLOCK_MINED", body, state: "due", due: now, created: now, original: null }
    }
  })
  yield* transaction(Effect.andThen(ChainRow.lock(1), CallbackState.enter(birth, callbacks)))
})

describe.skipIf(postgres === undefined || !isInTurn(import.meta.url))("Past callbacks on postgres", () => {
  it.live("are told with everything else that the store has of their account", () =>
    fresh(
      Effect.gen(function* () {
        const { account, subscription } = yield* subscribe
        yield* ended(subscription, 3)
        yield* ended(subscription, 1, { days: 0, label: "new", from: 4 })
        assert.strictEqual(yield* move, 3)
        const numbers: Array<unknown> = []
        yield* AccountExport.run(account, ({ kind, sequence }) =>
          Effect.sync(() => kind === "callback" && numbers.push(sequence))
        )
        assert.deepStrictEqual(numbers, [1, 2, 3, 4])
      })
    )
  )

  it.live("are in feeds as before, and are sent again when their account asks for them", () =>
    fresh(
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const feed = yield* AccountFeed
        const { account, key, subscription } = yield* subscribe
        yield* ended(subscription, 3)
        yield* Seed.callbacks(subscription, 2, { label: "due" })
        const page = { after: 0, limit: 10 }
        const before = yield* feed.read(account, page)
        const listed = yield* callbacks.list(key, page)
        // What ended today rests.
        yield* ended(subscription, 1, { days: 0.5, label: "today", from: 6 })
        assert.strictEqual(yield* move, 3)
        assert.strictEqual(yield* move, 0)
        const all = yield* callbacks.list(key, page)
        assert.deepStrictEqual(all.callbacks.slice(0, 5), listed.callbacks)
        assert.deepStrictEqual((yield* feed.read(account, page)).callbacks.slice(0, 5), before.callbacks)
        const again = yield* callbacks.redeliver(key, all.callbacks[1]!.idempotencyKey)
        assert.deepInclude(again, { sequence: 2, state: "due" })
        assert.deepStrictEqual(yield* places(subscription), [
          ["0", "delivered", "past"],
          ["1", "due", "present"],
          ["2", "delivered", "past"],
          ["due0", "due", "present"],
          ["due1", "due", "present"],
          ["today0", "delivered", "present"]
        ])
      })
    )
  )

  it.live("get their positions where the account's feed is read for the first time", () =>
    fresh(
      Effect.gen(function* () {
        const feed = yield* AccountFeed
        const { account, subscription } = yield* subscribe
        yield* ended(subscription, 3)
        assert.strictEqual(yield* move, 3)
        yield* Seed.callbacks(subscription, 1, { label: "due" })
        const { callbacks } = yield* feed.read(account, { after: 0, limit: 10 })
        assert.deepStrictEqual(
          callbacks.map(({ position, sequence }) => [position, sequence]),
          [1, 2, 3, 4].map((n) => [n, n])
        )
      })
    )
  )

  it.live("have their keys alone: an event that was told is not told again", () =>
    fresh(
      Effect.gen(function* () {
        const of = yield* subscribe
        const { subscription } = of
        yield* ended(subscription, 1, { label: "delivered" })
        yield* ended(subscription, 1, { state: "orphaned", label: "orphaned", from: 2 })
        yield* ended(subscription, 1, { state: "retracted", label: "retracted", from: 3 })
        assert.strictEqual(yield* move, 3)
        yield* enter(of, ["delivered0", "orphaned0", "retracted0", "new"])
        yield* enter(of, ["delivered0"], "added")
        const [delivered, orphaned, retracted, ...rest] = yield* places(subscription)
        assert.deepStrictEqual(delivered, ["delivered0", "delivered", "past"])
        // Its block is part of the chain again.
        assert.deepStrictEqual(orphaned, ["orphaned0", "due", "present"])
        assert.deepStrictEqual(retracted, ["retracted0", "retracted", "past"])
        // A retraction has ended the key: the event is told under another one.
        assert.deepStrictEqual(rest[1], ["new", "due", "present"])
        assert.lengthOf(rest, 2)
        assert.notInclude([...rest[0]!], "retracted0")
        const keys = yield* CallbackState.known(
          ["delivered0", "other"].map((label) => `${subscription.referenceId}-${label}`)
        )
        assert.strictEqual(keys.size, 1)
      })
    )
  )

  it.live("have their keys alone, whatever happens at the same moment", () =>
    fresh(
      Effect.gen(function* () {
        const callbacks = yield* Callbacks
        const of = yield* subscribe
        const { key, subscription } = of
        const labels = Array.from({ length: 60 }, (_, i) => `${i}`)
        yield* ended(subscription, labels.length)
        const some = (part: number) => labels.filter((_, i) => i % 4 === part)
        const rounds = Effect.fnUntraced(function* (work: Effect.Effect<unknown, unknown, Database>) {
          for (let i = 0; i < 15; i++) {
            yield* work
            yield* Effect.sleep(`${(i * 7) % 5} millis`)
          }
        })
        const { forUpdate, query, transaction } = yield* Database
        // As if they had been sent long ago.
        const deliver = transaction(
          Effect.andThen(
            query((db) =>
              db.selectFrom("subscription").select("id").where("id", "=", subscription.id).modifyEnd(forUpdate)
            ),
            query((db) =>
              db.updateTable("callback").set({ state: "delivered" }).where("subscription", "=", subscription.id)
            )
          )
        )
        yield* Effect.all(
          [
            rounds(move),
            rounds(enter(of, some(0))),
            rounds(enter(of, some(1), "added")),
            rounds(
              Effect.forEach(some(2), (label) => callbacks.redeliver(key, `${subscription.referenceId}-${label}`))
            ),
            rounds(deliver)
          ],
          { concurrency: "unbounded", discard: true }
        )
        const found = yield* places(subscription)
        assert.deepStrictEqual(
          found.map(([label]) => label),
          labels
        )
      })
    )
  )

  it.live("are taken back where their block leaves the chain", () =>
    fresh(
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const { account, subscription } = yield* subscribe
        yield* query((db) => db.updateTable("account").set({ retractions: 1 }).where("id", "=", account))
        yield* ended(subscription, 3)
        assert.strictEqual(yield* move, 3)
        const now = yield* Clock.currentTimeMillis
        yield* transaction(Effect.andThen(ChainRow.lock(1), Retractions.takeBack(1, 100, new Uint8Array(32), now)))
        const [first, second, third, ...retractions] = yield* places(subscription)
        assert.deepStrictEqual(first, ["0", "delivered", "past"])
        assert.deepStrictEqual([second![1], third![1]], ["retracted", "retracted"])
        assert.lengthOf(retractions, 2)
      })
    )
  )

  it.live("are none of those that were there before the partitions", () =>
    fresh(
      Effect.gen(function* () {
        const { query } = yield* Database
        const { subscription } = yield* subscribe
        const ids = yield* ended(subscription, 2)
        yield* query((db) => db.updateTable("past_callback_start").set({ id: ids[0]! }))
        assert.strictEqual(yield* move, 1)
      })
    )
  )

  it.live("go with their subscription", () =>
    fresh(
      Effect.gen(function* () {
        const { subscription } = yield* subscribe
        yield* ended(subscription, 600)
        assert.strictEqual(yield* move, 600)
        const { query, transaction } = yield* Database
        yield* transaction(
          Effect.andThen(
            query((db) => db.deleteFrom("subscription").where("id", "=", subscription.id)),
            Removal.begin([subscription])
          )
        )
        yield* Removal.rest
        assert.deepStrictEqual(yield* places(subscription), [])
      })
    )
  )

  it.live("are forgotten with their partition, and feeds count what nobody has read", () =>
    fresh(
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const feed = yield* AccountFeed
        const { account, subscription } = yield* subscribe
        yield* ended(subscription, 2, { label: "read" })
        const page = { after: 0, limit: 10 }
        assert.strictEqual((yield* feed.read(account, page)).end, 2)
        yield* ended(subscription, 3, { label: "unread", from: 3 })
        assert.strictEqual(yield* move, 5)
        const { drop } = CallbackPartitions
        yield* drop(keeping)
        assert.lengthOf(yield* places(subscription), 5)
        // 30 days are over since, but somebody reads.
        const reads = yield* Deferred.make<void>()
        const reader = yield* Effect.forkChild(
          transaction(
            Effect.andThen(
              query((db) => db.selectFrom("every_callback").select("id").limit(1)),
              Effect.andThen(Deferred.succeed(reads, undefined), Effect.sleep("700 millis"))
            )
          )
        )
        yield* Deferred.await(reads)
        yield* query((db) => db.updateTable("past_callback_partition").set({ to_day: sql<number>`from_day - 40` }))
        yield* drop(keeping)
        yield* Fiber.join(reader)
        assert.deepStrictEqual(yield* places(subscription), [])
        assert.deepInclude(yield* feed.read(account, page), { end: 5, missed: 5, callbacks: [] })
        assert.lengthOf(yield* query((db) => db.selectFrom("past_callback_partition").selectAll()), 0)
      })
    )
  )

  it.live("are forgotten in spite of a partition that cannot be dropped, and of very many feeds", () =>
    fresh(
      Effect.gen(function* () {
        const { query } = yield* Database
        const outbox = yield* Outbox
        const { account, subscription } = yield* subscribe
        yield* query((db) => db.insertInto("account_feed").values({ account, last_position: 0 }))
        yield* ended(subscription, 2)
        assert.strictEqual(yield* move, 2)
        // More accounts than a statement may have parameters.
        const day = Math.floor((yield* Clock.currentTimeMillis) / dayMillis)
        const run = (statement: string) => query((db) => ({ execute: () => sql.raw(statement).execute(db) }))
        yield* run(`
          insert into past_callback_${day} (id, subscription, host, account, chain, idempotency_key, event, body, state, due,
            leased_until, attempts, attempt_log, created, past_day)
          select -n, ${subscription.id}, 'free.test', 1000 + n, 1, 'n' || n, 'BLOCK_MINED', '{}', 'delivered', 1, 0, 1, '[]', 1, ${day}
          from generate_series(1, 70000) n`)
        yield* run(
          "insert into account_feed (account, last_position) select 1000 + n, 0 from generate_series(1, 70000) n"
        )
        yield* query((db) => db.updateTable("past_callback_partition").set({ to_day: sql<number>`from_day - 40` }))
        yield* run(`create view in_the_way as select 1 as one from past_callback_${day}`)
        yield* ended(subscription, 2, { days: 40, label: "old", from: 3 })
        assert.strictEqual(yield* outbox.prune, 2)
        assert.lengthOf(yield* query((db) => db.selectFrom("past_callback_partition").selectAll()), 1)
        yield* run("drop view in_the_way")
        yield* CallbackPartitions.drop(keeping)
        assert.deepStrictEqual(yield* places(subscription), [])
        const feed = yield* query((db) =>
          db.selectFrom("account_feed").selectAll().where("account", "in", [account, 71_000])
        )
        assert.sameDeepMembers(
          [...feed],
          [
            { account, last_position: 4 },
            { account: 71_000, last_position: 1 }
          ]
        )
      })
    )
  )

  it.live("stay among the others where no partition can be made, and are deleted in their time", () =>
    fresh(
      Effect.gen(function* () {
        const { query } = yield* Database
        const outbox = yield* Outbox
        const { subscription } = yield* subscribe
        yield* ended(subscription, 2, { days: 40, label: "old" })
        yield* ended(subscription, 2, { label: "later", from: 3 })
        const today = Math.floor((yield* Clock.currentTimeMillis) / dayMillis)
        const inTheWay = sql`create table ${sql.table(`past_callback_${today}`)} (id bigint)`
        yield* query((db) => ({ execute: () => inTheWay.execute(db) }))
        assert.strictEqual(yield* outbox.prune, 2)
        assert.deepStrictEqual(yield* places(subscription), [
          ["later0", "delivered", "present"],
          ["later1", "delivered", "present"]
        ])
      })
    )
  )
})
