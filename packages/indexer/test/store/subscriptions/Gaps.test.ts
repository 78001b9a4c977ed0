/** What an inactive subscription is told when it is active again: everything within the bounds, and which blocks it has missed. */
import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const bounds = { finishedMillis: 1e12, parkedMillis: 10_000, parkedCount: 3 }

for (const store of takenStores(import.meta.url)) {
  const servicesOf = (bounds: typeof Retention.Service) =>
    Callbacks.layer.pipe(
      Layer.provideMerge(Outbox.layer),
      Layer.provideMerge(Subscriptions.layer),
      Layer.provide(Layer.succeed(Retention, bounds))
    )
  const services = servicesOf(bounds)
  layer(Layer.empty)(`Gaps on ${store.name}`, (it) => {
    const start = Effect.gen(function* () {
      const subscriptions = yield* Subscriptions
      const callbacks = yield* Callbacks
      const { endParking } = yield* Outbox
      const chain = new FakeChain(Seed.chain)
      const chainStore = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
      yield* chainStore.commit([chain.tip])
      const account = yield* Seed.account
      const { id, referenceId } = yield* Seed.subscription(account, "https://receiver.test/")
      const key = { account, chain: Seed.chain, referenceId }
      return {
        endParking,
        mine: Effect.fnUntraced(function* (blocks: number) {
          for (let i = 0; i < blocks; i++) yield* chainStore.commit([chain.mine([])])
        }),
        /** The last blocks leave, and others come in their place. */
        reorganised: Effect.fnUntraced(function* (depth: number) {
          chain.drop(depth)
          yield* chainStore.undo(chain.tip.height)
          for (let i = 0; i < depth; i++) yield* chainStore.commit([chain.mine([])])
        }),
        activate: subscriptions.activate(key),
        deactivate: subscriptions.deactivate(id, "a reason"),
        status: callbacks.status(key),
        /** The feed: numbers, states, and the heights of blocks, or of the first and the last block of a gap. */
        feed: Effect.map(callbacks.list(key, { after: 0, limit: 100 }), (page) =>
          page.callbacks.map(({ body, sequence, state }) => {
            const { event, item } = JSON.parse(body).data
            return [sequence, state, ...(event === "BLOCKS_MISSED" ? [item.fromHeight, item.toHeight] : [item.height])]
          })
        )
      }
    })

    it.effect("are none within the bounds", () =>
      Effect.gen(function* () {
        const { activate, deactivate, endParking, feed, mine, status } = yield* start
        yield* mine(1)
        yield* deactivate
        yield* mine(1)
        yield* TestClock.adjust(9_999)
        assert.strictEqual(yield* endParking, 0)
        assert.deepInclude(yield* status, { waiting: 0, parked: 2, gapFrom: undefined })
        yield* activate
        yield* mine(1)
        assert.deepStrictEqual(yield* feed, [
          [1, "due", 1],
          [2, "due", 2],
          [3, "due", 3]
        ])
      }).pipe(Effect.provide(Layer.provideMerge(services, store.layer)), Effect.scoped)
    )

    it.effect("begin where as much is parked as may be, and stand in the feed behind what is parked", () =>
      Effect.gen(function* () {
        const { activate, deactivate, endParking, feed, mine, status } = yield* start
        yield* deactivate
        yield* mine(2)
        assert.strictEqual(yield* endParking, 0)
        yield* mine(1)
        assert.strictEqual(yield* endParking, 1)
        assert.strictEqual(yield* endParking, 0)
        yield* mine(4)
        assert.deepInclude(yield* status, { parked: 3, gapFrom: 4 })
        yield* activate
        yield* mine(1)
        const first = [
          [1, "due", 1],
          [2, "due", 2],
          [3, "due", 3],
          [4, "expired", 4, 7]
        ]
        assert.deepStrictEqual(yield* feed, [...first, [5, "due", 8]])
        assert.isUndefined((yield* status).gapFrom)
        // The next time is as the first: the bounds hold anew, and a gap without blocks is none.
        yield* deactivate
        yield* endParking
        yield* activate
        yield* mine(1)
        assert.deepStrictEqual(yield* feed, [...first, [5, "due", 8], [6, "due", 9]])
      }).pipe(Effect.provide(Layer.provideMerge(services, store.layer)), Effect.scoped)
    )

    it.effect("begin lower where blocks below them leave: the ones in their place were matched against nothing", () =>
      Effect.gen(function* () {
        const { activate, deactivate, endParking, feed, mine, reorganised } = yield* start
        yield* deactivate
        yield* mine(3)
        assert.strictEqual(yield* endParking, 1)
        yield* mine(1)
        yield* reorganised(3)
        yield* activate
        const told = (yield* feed).filter(([, state]) => state !== "orphaned" && state !== "retracted")
        assert.deepStrictEqual(told[0], [1, "due", 1])
        assert.deepStrictEqual(told.at(-1)!.slice(1), ["expired", 2, 4])
      }).pipe(Effect.provide(Layer.provideMerge(services, store.layer)), Effect.scoped)
    )

    it.effect("begin where a subscription has been inactive for too long", () =>
      Effect.gen(function* () {
        const { activate, deactivate, endParking, feed, mine } = yield* start
        yield* deactivate
        yield* mine(1)
        yield* TestClock.adjust(10_000)
        assert.strictEqual(yield* endParking, 1)
        yield* mine(1)
        yield* activate
        assert.deepStrictEqual(yield* feed, [
          [1, "due", 1],
          [2, "expired", 2, 2]
        ])
      }).pipe(Effect.provide(Layer.provideMerge(services, store.layer)), Effect.scoped)
    )

    it.effect("are none by a clock that is ahead: blocks show how much time has passed", () =>
      Effect.gen(function* () {
        const { deactivate, endParking } = yield* start
        const mainnet = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
        const { tip } = new FakeChain(mainnet)
        yield* (yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 64 })).commit([tip])
        yield* TestClock.setTime(tip.time * 1000)
        yield* deactivate
        yield* TestClock.adjust("365 days")
        assert.strictEqual(yield* endParking, 0)
      }).pipe(
        Effect.provide(Layer.provideMerge(servicesOf({ ...bounds, parkedMillis: 7 * 86_400_000 }), store.layer)),
        Effect.scoped
      )
    )
  })
}
