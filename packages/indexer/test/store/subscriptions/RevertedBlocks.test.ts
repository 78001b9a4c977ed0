/** Subscriptions to blocks that leave the chain. */
import { assert, layer } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Hash from "@headwater/core/Hash"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const told = ({ hash, height, time }: Block) => [height, Hash.encode(Seed.chain, hash), time]

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(store.layer)
  )
  layer(Layer.empty)(`Reverted blocks on ${store.name}`, (it) => {
    const start = Effect.gen(function* () {
      const fake = new FakeChain(Seed.chain)
      const chainStore = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
      yield* chainStore.commit([fake.tip])
      const account = yield* Seed.account
      // Retractions are of what was told: that a block has left is never taken back.
      yield* (yield* Accounts).setRetractions(account, true)
      const { referenceId } = yield* (yield* Subscriptions).create({
        ...{ account, chain: Seed.chain, event: "BLOCK_REVERTED", address: undefined, confirmations: 1 },
        ...{ callbackUrl: "https://receiver.test/", secret: undefined, allowDuplicates: false }
      })
      const commit = (...blocks: ReadonlyArray<Block>) =>
        Effect.forEach(blocks, (block) => chainStore.commit([block]), { discard: true })
      const callbacks = yield* Callbacks
      const feed = Effect.map(
        callbacks.list({ account, chain: Seed.chain, referenceId }, { after: 0, limit: 100 }),
        (page) => {
          const keys = page.callbacks.map(({ idempotencyKey }) => idempotencyKey)
          assert.strictEqual(new Set(keys).size, keys.length)
          return page.callbacks.map(({ body }) => {
            const { event, item } = JSON.parse(body).data
            assert.strictEqual(event, "BLOCK_REVERTED")
            return [item.height, item.hash, item.timestamp]
          })
        }
      )
      return { chainStore, fake, commit, feed }
    })
    const provided = Effect.provide(services)

    it.effect("are told, the newest first, and again each time that they leave", () =>
      Effect.gen(function* () {
        const { chainStore, commit, fake, feed } = yield* start
        const [a1, a2] = [fake.mine([]), fake.mine([])]
        yield* commit(a1, a2)
        assert.deepStrictEqual(yield* feed, [])
        fake.drop(2)
        const b1 = fake.mine([])
        yield* chainStore.undo(0)
        yield* commit(b1)
        const first = [told(a2), told(a1)]
        assert.deepStrictEqual(yield* feed, first)
        yield* chainStore.undo(0)
        yield* commit(a1)
        yield* chainStore.undo(0)
        yield* commit(b1)
        assert.deepStrictEqual(yield* feed, [...first, told(b1), told(a1)])
      }).pipe(provided, Effect.scoped)
    )

    it.effect("are none of those that an operator has rewound, unless other blocks come", () =>
      Effect.gen(function* () {
        const { chainStore, commit, fake, feed } = yield* start
        const [a1, a2, a3] = [fake.mine([]), fake.mine([]), fake.mine([])]
        yield* commit(a1, a2, a3)
        yield* chainStore.rewind(0)
        yield* commit(a1, a2, a3)
        assert.deepStrictEqual(yield* feed, [])
        yield* chainStore.rewind(0)
        yield* commit(a1)
        fake.drop(2)
        yield* commit(fake.mine([]))
        assert.deepStrictEqual(yield* feed, [told(a3), told(a2)])
      }).pipe(provided, Effect.scoped)
    )
  })
}
