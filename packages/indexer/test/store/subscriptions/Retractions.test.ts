import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as Callback from "@headwater/core/events/Callback"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Retractions from "@headwater/indexer/store/subscriptions/Retractions"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const options: Follow.Options = { start: 0, pollInterval: Duration.millis(1), concurrency: 1, undoDepth: 64 }

const setup = Effect.fnUntraced(function* (wanted: boolean) {
  const accounts = yield* Accounts
  const account = yield* accounts.create("merchant")
  yield* accounts.setRetractions(account.id, wanted)
  const fake = new FakeChain(chain)
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
  const { step } = yield* Follow.make(fake.source, store, options)
  yield* step
  const subscriptions = yield* Subscriptions
  const subscription = yield* subscriptions.create({
    ...{ account: account.id, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
    ...{ address: address(0), callbackUrl: "https://receiver.test/", secret: undefined, allowDuplicates: false }
  })
  const { query, read } = yield* Database
  /** As delivery does with everything that is due. */
  const deliver = Effect.gen(function* () {
    const rows = yield* read((db) =>
      db.selectFrom("callback").select(["id", "sequence"]).where("state", "=", "due").orderBy("id")
    )
    for (const { id, sequence } of rows) {
      const change = { state: "delivered" as const, attempts: 1, sequence: sequence ?? id }
      yield* query((db) => db.updateTable("callback").set(change).where("id", "=", id))
    }
  })
  const callbacks = read((db) =>
    db.selectFrom("callback").select(["event", "state", "idempotency_key", "body"]).orderBy("id")
  )
  return { fake, step, store, subscription, subscriptions, deliver, callbacks }
})

for (const store of takenStores(import.meta.url)) {
  describe(`Retractions on ${store.name}`, () => {
    const layer = Layer.mergeAll(Accounts.layer, ChainStatus.layer, Outbox.layer).pipe(
      Layer.provideMerge(Subscriptions.layer),
      Layer.provideMerge(hostPermission(new Set(["receiver.test"]))),
      Layer.provideMerge(Domains.layer),
      Layer.provideMerge(store.layer)
    )

    it.live("follow what was delivered, name its key, and repeat its item", () =>
      Effect.gen(function* () {
        const { callbacks, deliver, fake, step } = yield* setup(true)
        fake.mine([{ from: 9, to: 0 }])
        yield* step
        yield* deliver
        const [original] = yield* callbacks
        fake.drop(1)
        fake.mine([])
        yield* step
        const [first, retraction, ...rest] = yield* callbacks
        assert.deepStrictEqual(rest, [])
        assert.strictEqual(first!.state, "retracted")
        assert.strictEqual(retraction!.state, "due")
        assert.strictEqual(retraction!.event, "ADDRESS_COINS_TRANSACTION_CONFIRMED_REVERTED")
        const body = JSON.parse(retraction!.body)
        assert.deepStrictEqual(body.data.item, {
          ...JSON.parse(original!.body).data.item,
          revertedIdempotencyKey: original!.idempotency_key
        })
        assert.strictEqual(body.idempotencyKey, retraction!.idempotency_key)
        assert.notStrictEqual(retraction!.idempotency_key, original!.idempotency_key)
      }).pipe(Effect.provide(layer))
    )

    it.live("follow each of very many, the newest first", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const { callbacks, subscription } = yield* setup(true)
        yield* Seed.callbacks(subscription, 1_200, { state: "delivered" })
        yield* query((db) => db.updateTable("callback").set({ sequence: sql<number>`id` }))
        const sent = yield* callbacks
        yield* transaction(Retractions.takeBack(1, 99, new Uint8Array(32), 1))
        const all = yield* callbacks
        assert.isTrue(all.slice(0, 1_200).every(({ state }) => state === "retracted"))
        assert.deepStrictEqual(
          all.slice(1_200).map(({ body }) => JSON.parse(body).data.item.revertedIdempotencyKey),
          sent.map(({ idempotency_key }) => idempotency_key).reverse()
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("are held back with everything else while the subscription is inactive", () =>
      Effect.gen(function* () {
        const { callbacks, deliver, fake, step, subscription, subscriptions } = yield* setup(true)
        fake.mine([{ from: 9, to: 0 }])
        yield* step
        yield* deliver
        yield* subscriptions.deactivate(subscription.id, "test")
        fake.drop(1)
        fake.mine([])
        yield* step
        assert.deepStrictEqual(
          (yield* callbacks).map(({ state }) => state),
          ["retracted", "held"]
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("do not follow what was never sent, and come to nobody who did not ask", () =>
      Effect.gen(function* () {
        for (const [wanted, sent] of [
          [true, false],
          [false, true]
        ] as const) {
          const { query } = yield* Database
          for (const table of ["account", "chain", "block", "callback", "subscription"] as const) {
            yield* query((db) => db.deleteFrom(table))
          }
          const { callbacks, deliver, fake, step } = yield* setup(wanted)
          fake.mine([{ from: 9, to: 0 }])
          yield* step
          if (sent) yield* deliver
          fake.drop(1)
          fake.mine([])
          yield* step
          assert.deepStrictEqual(
            (yield* callbacks).map(({ state }) => state),
            sent ? ["delivered"] : []
          )
        }
      }).pipe(Effect.provide(layer))
    )

    it.live("end the key: when its block returns the event comes under another one, as often as that happens", () =>
      Effect.gen(function* () {
        const { callbacks, deliver, fake, step } = yield* setup(true)
        fake.mine([{ from: 9, to: 0 }])
        yield* step
        yield* deliver
        const before = [...fake.blocks]
        fake.drop(1)
        fake.mine([])
        yield* step
        yield* deliver
        const other = [...fake.blocks]
        fake.blocks = [...before]
        fake.mine([])
        yield* step
        yield* deliver
        fake.blocks = [...other]
        for (let i = 0; i < 2; i++) fake.mine([])
        yield* step
        yield* deliver
        fake.blocks = [...before]
        for (let i = 0; i < 3; i++) fake.mine([])
        yield* step
        const all = yield* callbacks
        const told = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        assert.deepStrictEqual(
          all.map(({ event, state }) => [event, state]),
          [
            [told, "retracted"],
            [`${told}_REVERTED`, "delivered"],
            [told, "retracted"],
            [`${told}_REVERTED`, "delivered"],
            [told, "due"]
          ]
        )
        const keys = all.map(({ idempotency_key }) => idempotency_key)
        const items = all.map(({ body }) => JSON.parse(body).data.item)
        assert.strictEqual(new Set(keys).size, 5)
        assert.deepStrictEqual(
          items.map((item) => item.revertedIdempotencyKey),
          [undefined, keys[0], undefined, keys[2], undefined]
        )
        assert.deepStrictEqual(
          items.map((item) => item.restoresIdempotencyKey),
          [undefined, undefined, keys[0], keys[0], keys[2]]
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("end the key for every process: also for one that finds the chain as it has left it", () =>
      Effect.gen(function* () {
        const { callbacks, deliver, fake, step } = yield* setup(true)
        fake.mine([{ from: 9, to: 0 }])
        yield* step
        const other = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
        const before = fake.tip
        yield* other.commit([fake.mine([{ from: 9, to: 0 }])])
        yield* deliver
        yield* other.undo(before.height)
        yield* deliver
        yield* step
        assert.deepStrictEqual(
          (yield* callbacks).slice(-3).map(({ event, state }) => [event.endsWith("_REVERTED"), state]),
          [
            [false, "retracted"],
            [true, "delivered"],
            [false, "due"]
          ]
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("follow a rewind only where the chain has another block than before", () =>
      Effect.gen(function* () {
        const { callbacks, deliver, fake, step, store } = yield* setup(true)
        for (let i = 0; i < 3; i++) fake.mine([{ from: 9, to: 0 }])
        yield* step
        yield* deliver
        const told = yield* callbacks
        yield* store.rewind(1)
        fake.drop(1)
        fake.mine([])
        yield* step
        const all = yield* callbacks
        assert.deepStrictEqual(
          all.map(({ state }) => state),
          ["delivered", "delivered", "retracted", "due"]
        )
        assert.deepStrictEqual(
          all.slice(0, 3).map(({ idempotency_key }) => idempotency_key),
          told.map(({ idempotency_key }) => idempotency_key)
        )
        assert.strictEqual(Callback.itemOf(all[3]!.body).revertedIdempotencyKey, told[2]!.idempotency_key)
      }).pipe(Effect.provide(layer))
    )

    it.live("wait for the answer to what they take back", () =>
      Effect.gen(function* () {
        const { fake, step } = yield* setup(true)
        const outbox = yield* Outbox
        const capacity = {
          ...{ limit: 1, batchSize: 9, followOns: [], roundRobinCursor: 0, retriesFirst: false },
          ...{ accountCursor: 0, accounts: new Map(), accountLimit: 1, callbacks: 10_000 }
        }
        const lease = outbox.lease([{ host: "receiver.test", ...capacity }], 60_000)
        fake.mine([{ from: 9, to: 0 }])
        yield* step
        const [original] = (yield* lease)[0]!.callbacks
        fake.drop(1)
        fake.mine([])
        yield* step
        assert.deepStrictEqual(yield* lease, [])
        yield* outbox.acknowledge([
          { kind: "delivered", callback: original!, attempt: { at: 1, duration: 1, status: 200 } }
        ])
        const [retraction] = (yield* lease)[0]!.callbacks
        assert.strictEqual(Callback.itemOf(retraction!.body).revertedIdempotencyKey, original!.idempotencyKey)
      }).pipe(Effect.provide(layer))
    )
  })
}
