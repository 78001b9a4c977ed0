/** What blocks that have left the chain told, until steps have taken it back. */
import { assert, layer } from "@effect/vitest"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const bounds = { commit: 500, address: 100, undo: 3, step: 2, turn: 1 }
const count = 8
const open = Effect.provideService(
  ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 }),
  FanOut.Bounds,
  bounds
)

for (const store of stores) {
  const services = Layer.mergeAll(Callbacks.layer, AccountFeed.layer).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`Undone blocks on ${store.name}`, (it) => {
    const capacity = {
      ...{ host: "receiver.test", limit: 10, followOns: [], batchSize: 500, retriesFirst: false },
      ...{ accountCursor: -1, accounts: new Map(), accountLimit: 100 }
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
  })
}
