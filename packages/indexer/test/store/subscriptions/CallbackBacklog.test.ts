import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as CallbackBacklog from "@headwater/indexer/store/subscriptions/CallbackBacklog"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

for (const store of takenStores(import.meta.url)) {
  layer(Layer.empty)(`The backlog of callbacks on ${store.name}`, (it) => {
    it.effect("is what the store has, and only what waits for hosts that refuse nothing is late", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const none = { count: 0, oldest: undefined }
        assert.deepStrictEqual(yield* CallbackBacklog.read(), {
          ...{ waiting: none, accepting: none, retrying: none, parked: none, unwritten: none }
        })
        const account = yield* Seed.account
        const subscribe = (host: string) => Seed.subscription(account, `https://${host}/`)
        const refusing = yield* subscribe("refusing.test")
        const accepting = yield* subscribe("accepting.test")
        yield* Seed.callbacks(refusing, 3, { created: 100, label: "a" })
        yield* query((db) => db.updateTable("callback").set({ attempts: 2 }).where("height", "=", 100))
        yield* Seed.callbacks(accepting, 1, { created: 200 })
        yield* Seed.callbacks(accepting, 2, { created: 300, label: "b" })
        yield* Seed.callbacks(accepting, 1, { created: 50, state: "held", label: "c" })
        yield* Seed.callbacks(accepting, 1, { created: 40, state: "delivered", label: "d" })
        yield* query((db) =>
          db.insertInto("matched").values({
            ...{ chain: 1, height: 1, block_hash: new Uint8Array(32), address: null, revision: 1, created: 70 },
            occurrences: "[]"
          })
        )
        const own = {
          waiting: { count: 5, oldest: 100 },
          accepting: { count: 3, oldest: 200 },
          retrying: { count: 1, oldest: 100 },
          parked: { count: 1, oldest: 50 }
        }
        assert.deepStrictEqual(yield* CallbackBacklog.read(), { ...own, unwritten: { count: 1, oldest: 70 } })
        assert.deepStrictEqual(yield* CallbackBacklog.ofAccount(account, 100), own)
      }).pipe(Effect.provide(Layer.provideMerge(Subscriptions.layer, store.layer)))
    )
  })
}
