/** What blocks that have left the chain told, until steps have taken it back. */
import { assert, layer } from "@effect/vitest"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const bounds = { commit: 500, address: 100, undo: 3, step: 2, turn: 1 }
const count = 8

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
        const opened = yield* Effect.provideService(
          ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 }),
          FanOut.Bounds,
          bounds
        )
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
  })
}
