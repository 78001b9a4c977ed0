import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WaitingCallbacks from "@headwater/indexer/store/subscriptions/WaitingCallbacks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

for (const store of takenStores(import.meta.url)) {
  layer(Subscriptions.layer.pipe(Layer.provideMerge(store.layer)))(`WaitingCallbacks on ${store.name}`, (it) => {
    it.effect("names the accounts of which as many wait as may, to be sent or parked", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const accounts: Array<number> = []
        for (const [due, held, delivered] of [
          [2, 1, 0],
          [1, 1, 5],
          [0, 4, 0]
        ] as const) {
          const account = yield* Seed.account
          const subscription = yield* Seed.subscription(account, "https://a.test/")
          for (const [state, count] of [
            ["due", due] as const,
            ["held", held] as const,
            ["delivered", delivered] as const
          ]) {
            if (count > 0) yield* Seed.callbacks(subscription, count, { label: state, state })
          }
          accounts.push(account)
        }
        const names = yield* Effect.forEach(accounts, (account) =>
          Effect.map(
            query((db) => db.selectFrom("account").select("name").where("id", "=", account)),
            ([row]) => row!.name
          )
        )
        assert.deepStrictEqual(yield* WaitingCallbacks.fullAccounts(3, 10), [names[0], names[2]])
        assert.deepStrictEqual(yield* WaitingCallbacks.fullAccounts(2, 2), [names[0], names[1]])
        assert.deepStrictEqual(yield* WaitingCallbacks.fullAccounts(5, 10), [])
      })
    )
  })
}
