import { assert, describe, layer } from "@effect/vitest"
import * as Broadcasts from "@headwater/indexer/store/broadcasts/Broadcasts"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as PastTransactions from "@headwater/indexer/store/subscriptions/PastTransactions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Plans from "../Plans.ts"

for (const store of takenStores(import.meta.url)) {
  describe(`Accounts with what is due on ${store.name}`, () => {
    layer(store.layer.pipe(Layer.fresh))((it) => {
      const looks = (first: number, accounts: (i: number) => number) =>
        Effect.flatMap(Database, ({ insertMany }) =>
          insertMany(
            "transaction_look",
            Array.from({ length: 20_000 }, (_, i) => ({
              ...{ subscription: first + i, chain: 1, account: accounts(i), next_look: 0 }
            }))
          )
        )

      it.effect("are found by account, also where statistics are from before all but one of them", () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          yield* looks(1, () => 1)
          yield* query(rows(sql`analyze`))
          yield* looks(100_000, (i) => 2 + (i % 2000))
          for (const [queue, index] of [
            [PastTransactions.queue(1, 10), "transaction_look_account"],
            [Broadcasts.queue(1, 10), "broadcast_account_look"]
          ] as const) {
            const [plan] = yield* Plans.of(store.name, queue.accounts)
            // A table that has nothing may be read.
            if (index !== "broadcast_account_look" || store.name === "sqlite") assert.include(plan, index)
            assert.notMatch(plan!, /transaction_look_next|broadcast_look/)
          }
          assert.lengthOf(yield* PastTransactions.queue(1, 10).accounts, 2001)
        })
      )
    })
  })
}
