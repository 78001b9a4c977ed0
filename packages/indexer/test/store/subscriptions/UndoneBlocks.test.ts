/** What blocks that have left the chain told, until steps have taken it back. */
import { assert, layer } from "@effect/vitest"
import type { EventType } from "@headwater/core/events/EventType"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UndoneBlocks from "@headwater/indexer/store/subscriptions/UndoneBlocks"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const bounds = { commit: 500, address: 100, undo: 3, step: 2, turn: 1 }
const count = 8
const opening = ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
const open = Effect.provideService(opening, FanOut.Bounds, bounds)

for (const store of takenStores(import.meta.url)) {
  const services = Layer.mergeAll(Callbacks.layer, AccountFeed.layer).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`Undone blocks on ${store.name}`, (it) => {
    const capacity = {
      ...{ host: "receiver.test", limit: 10, followOns: [], batchSize: 500, retriesFirst: false },
      ...{ accountCursor: -1, accounts: new Map(), accountLimit: 100, callbacks: 10_000 }
    }
    it.effect("are not told for the first time after they have left, nor shown; and no replay looks at them", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const callbacks = yield* Callbacks
        const chain = new FakeChain(Seed.chain)
        const opened = yield* open
        yield* opened.commit([chain.tip])
        const account = yield* Seed.account
        const subscriptions = yield* Effect.forEach(Array.from({ length: count }), (_, i) =>
          Seed.subscription(account, `https://receiver.test/${i}`)
        )
        const keyOf = ({ referenceId }: (typeof subscriptions)[number]) => ({
          ...{ account, chain: Seed.chain, referenceId }
        })
        yield* opened.commit([chain.mine([])])
        chain.drop(1)
        yield* opened.undo(chain.tip.height)
        const again = chain.mine([])
        yield* opened.commit([again])
        const sent = Effect.map(outbox.lease([capacity], 60_000), (leases) =>
          leases.flatMap(({ callbacks }) => callbacks.map(({ body }) => JSON.parse(body).data.item.hash as string))
        )
        const listed = Effect.map(
          Effect.forEach(subscriptions, (one) => callbacks.list(keyOf(one), { after: 0, limit: 10 })),
          (pages) => pages.flatMap((page) => page.callbacks)
        )
        const refused = opened.reprocess(again, { callbacks: true, internalFrom: undefined })
        // At most a few have been taken back by now.
        assert.deepStrictEqual(yield* sent, [])
        assert.deepStrictEqual(yield* listed, [])
        assert.deepStrictEqual((yield* (yield* AccountFeed).read(account, { after: 0, limit: 10 })).callbacks, [])
        assert.include((yield* Effect.flip(refused)).message, "still being taken back")
        while ((yield* opened.fanOut).more);
        const told = yield* sent
        assert.strictEqual(told.length, count)
        assert.strictEqual(new Set(told).size, 1)
        assert.strictEqual((yield* listed).length, count)
        assert.strictEqual(yield* refused, 0)
      }).pipe(Effect.provide(services), Effect.scoped)
    )

    it.effect("are not sent where the feed has shown them, and take nobody's place, nor another stream's", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const chain = new FakeChain(Seed.chain)
        const opened = yield* open
        yield* opened.commit([chain.tip])
        const account = yield* Seed.account
        // More streams than places of the account, and more accounts than places of the host.
        for (let i = 0; i < count; i++) yield* Seed.subscription(account, `https://receiver.test/${i}`)
        for (let i = 0; i < 3; i++) yield* Seed.subscription(yield* Seed.account, "https://receiver.test/")
        yield* opened.commit([chain.mine([])])
        const shown = yield* (yield* AccountFeed).read(account, { after: 0, limit: 10 })
        assert.lengthOf(shown.callbacks, count)
        chain.drop(1)
        yield* opened.undo(chain.tip.height)
        const free = yield* Effect.forEach([account, yield* Seed.account], (one) =>
          Seed.subscription(one, "https://receiver.test/")
        )
        for (const one of free) yield* Seed.callbacks(one, 1)
        const leases = yield* outbox.lease([{ ...capacity, limit: 2 }], 60_000)
        assert.deepStrictEqual(
          leases.map(({ subscription }) => subscription),
          free.map(({ id }) => id)
        )
      }).pipe(Effect.provide(services), Effect.scoped)
    )

    it.effect("are not sent again whose first attempt failed, and take nobody's place", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const chain = new FakeChain(Seed.chain)
        const opened = yield* open
        yield* opened.commit([chain.tip])
        const account = yield* Seed.account
        for (let i = 0; i < count; i++) yield* Seed.subscription(account, `https://receiver.test/${i}`)
        yield* opened.commit([chain.mine([])])
        const failed = (yield* outbox.lease([capacity], 60_000)).flatMap(({ callbacks }) => callbacks)
        assert.lengthOf(failed, count)
        const attempt = { at: 0, duration: 1, status: 500 }
        yield* outbox.acknowledge(failed.map((callback) => ({ kind: "retry", callback, attempt, due: 0 })))
        chain.drop(1)
        yield* opened.undo(chain.tip.height)
        const other = yield* Seed.subscription(yield* Seed.account, "https://receiver.test/other")
        yield* Seed.callbacks(other, 1)
        yield* TestClock.adjust("1 second")
        const [theirs] = yield* outbox.lease([{ ...capacity, limit: 1 }], 60_000)
        const again = { kind: "retry", callback: theirs!.callbacks[0]!, attempt, due: 500 } as const
        yield* outbox.acknowledge([again])
        const leases = yield* outbox.lease([{ ...capacity, limit: 1 }], 60_000)
        assert.deepStrictEqual(
          leases.map(({ subscription }) => subscription),
          [other.id]
        )
      }).pipe(Effect.provide(services), Effect.scoped)
    )

    it.effect("keep no number from the entry that names a gap behind them", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const chain = new FakeChain(Seed.chain)
        const opened = yield* open
        yield* opened.commit([chain.tip])
        const account = yield* Seed.account
        const { id, referenceId } = yield* Seed.subscription(account, "https://receiver.test/")
        yield* subscriptions.deactivate(id, "test")
        yield* opened.commit([chain.mine([]), chain.mine([]), chain.mine([]), chain.mine([]), chain.mine([])])
        chain.drop(4)
        yield* opened.undo(chain.tip.height)
        const parksOne = Layer.fresh(Outbox.layer).pipe(
          Layer.provide(Layer.succeed(Retention, { finishedMillis: 1e9, parkedMillis: 1e9, parkedCount: 1 }))
        )
        const ended = Effect.flatMap(Outbox, ({ endParking }) => endParking)
        assert.strictEqual(yield* Effect.provide(ended, parksOne), 1)
        yield* opened.commit([chain.mine([])])
        yield* subscriptions.activate({ account, chain: Seed.chain, referenceId })
        while ((yield* opened.fanOut).more);
        assert.deepStrictEqual(
          (yield* Seed.rows(id)).map(({ event, sequence }) => [event, sequence]),
          [
            ["BLOCK_MINED", 1],
            ["BLOCKS_MISSED", 2]
          ]
        )
      }).pipe(Effect.provide(services), Effect.scoped)
    )

    it.effect(
      "hold up no other account: commits tell those what has happened at shared addresses, and confirmations",
      () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const subscriptions = yield* Subscriptions
          const chain = new FakeChain(Seed.chain)
          const opened = yield* open
          yield* opened.commit([chain.tip])
          const [many, one] = [yield* Seed.account, yield* Seed.account]
          const kinds: ReadonlyArray<readonly [EventType, number]> = [
            ["ADDRESS_COINS_TRANSACTION_CONFIRMED", 1],
            ["ADDRESS_COINS_TRANSACTION_CONFIRMED", 2],
            ["ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 3]
          ]
          const subscribe = (account: number) =>
            Effect.forEach(kinds, ([event, confirmations]) =>
              subscriptions.create({
                ...{ account, chain: Seed.chain, event, confirmations, address: address(1), secret: undefined },
                ...{ allowDuplicates: true, callbackUrl: "https://receiver.test/" }
              })
            )
          const [theirs, own] = [yield* subscribe(many), yield* subscribe(one)]
          for (let i = 0; i < 4; i++) yield* Seed.subscription(many, "https://receiver.test/")
          const pays = [{ from: 2, to: 1 }]
          yield* opened.commit([chain.mine(pays)])
          const { height } = chain.tip
          yield* opened.commit([chain.mine([])])
          chain.drop(1)
          yield* opened.undo(height)
          const blocks = yield* Seed.subscription(one, "https://receiver.test/")
          /** The heights of what was told, above that of the first payment, and the confirmations. */
          const told = Effect.fnUntraced(function* ({ id }: typeof blocks) {
            return (yield* Seed.rows(id)).map(({ body }) => {
              const { currentConfirmations, height: mined, minedInBlock } = JSON.parse(body).data.item
              const above = (mined ?? minedInBlock.height) - height
              return currentConfirmations === undefined ? above : [above, currentConfirmations]
            })
          })
          const first = [
            [0, 1],
            [0, 2]
          ]
          yield* opened.commit([chain.mine(pays)])
          yield* opened.commit([chain.mine([])])
          assert.deepStrictEqual(yield* Effect.forEach([blocks, ...own], told), [
            [1, 2],
            [0, 1],
            [0, 1],
            [...first, [1, 1], [0, 3], [1, 2]]
          ])
          assert.deepStrictEqual(yield* Effect.forEach(theirs, told), [[0], [0], first])
          // Nor does the account when everything is taken back and it is still to be told what has happened since.
          while ((yield* UndoneBlocks.accounts(1)).size > 0) yield* opened.fanOut
          yield* opened.commit([chain.mine([])])
          const all = [
            [0, 1],
            [0, 1],
            [...first, [1, 1], [0, 3], [1, 2], [1, 3]]
          ]
          assert.deepStrictEqual(yield* Effect.forEach([blocks, ...own], told), [[1, 2, 3], ...all])
          assert.notDeepEqual(yield* Effect.forEach(theirs, told), all)
          while ((yield* opened.fanOut).more);
          assert.deepStrictEqual(yield* Effect.forEach(theirs, told), all)
          assert.deepStrictEqual(yield* Effect.forEach([blocks, ...own], told), [[1, 2, 3], ...all])
          for (const table of ["matched", "fan_out", "undoing"] as const) {
            assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
          }
        }).pipe(Effect.provide(services), Effect.scoped)
    )

    it.effect.skipIf(store.name !== "postgres")("wait for one lock of subscriptions at a time", () =>
      Effect.gen(function* () {
        const { lockRows, query, transaction } = yield* Database
        const chain = new FakeChain(Seed.chain)
        const opened = yield* Effect.provideService(opening, FanOut.Bounds, { ...bounds, undo: 0, step: 50, turn: 25 })
        yield* opened.commit([chain.tip])
        const account = yield* Seed.account
        const [first, second] = [
          yield* Seed.subscription(account, "https://receiver.test/1"),
          yield* Seed.subscription(account, "https://receiver.test/2")
        ]
        // The lower block is of the first subscription alone, the higher one of the other.
        for (const { id } of [second, first]) {
          const { height } = chain.mine([])
          yield* opened.commit([chain.tip])
          yield* query((db) => db.deleteFrom("callback").where("height", "=", height).where("subscription", "=", id))
        }
        chain.drop(2)
        yield* opened.undo(chain.tip.height)
        const [locked, end] = [yield* Latch.make(), yield* Latch.make()]
        // As who gives positions in the account's feed: by the ids of the subscriptions.
        const lock = ({ id }: typeof first) =>
          lockRows((db) => db.selectFrom("subscription").select("id").where("id", "=", id))
        const reader = yield* Effect.forkChild(
          transaction(
            lock(first).pipe(Effect.andThen(locked.open), Effect.andThen(end.await), Effect.andThen(lock(second)))
          )
        )
        yield* locked.await
        const step = yield* Effect.forkChild(opened.fanOut)
        const isWaiting = query(
          rows(sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        ).pipe(Effect.repeat({ until: ({ length }) => length > 0, schedule: Schedule.spaced("10 millis") }))
        yield* Effect.raceFirst(Fiber.await(step), isWaiting)
        yield* end.open
        yield* Fiber.join(reader)
        assert.deepInclude(yield* Fiber.join(step), { callbacks: 1, more: true })
        assert.deepInclude(yield* opened.fanOut, { callbacks: 1, more: false })
      }).pipe(TestClock.withLive, Effect.provide(services), Effect.scoped)
    )
  })
}
