import { assert, layer } from "@effect/vitest"
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import type { Tables } from "@headwater/indexer/store/database/Tables"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const services = Layer.mergeAll(Accounts.layer, Credits.layer, Subscriptions.layer, Domains.layer)

/** Gives an account something in every table that has an account's rows. */
const fill = Effect.fnUntraced(function* (name: string) {
  const accounts = yield* Accounts
  const { insertMany, query } = yield* Database
  const { id: account } = yield* accounts.create(name)
  yield* accounts.createKey(account, { name: "key" })
  yield* (yield* Credits).grant({ account, amount: 10, detail: "paid" })
  yield* (yield* Domains).add(account, "example.com")
  // More than one transaction removes.
  for (let i = 0; i < 60; i++) {
    const subscription = yield* Seed.subscription(account, `https://example.com/${i}`, "a secret of the test")
    yield* Seed.callbacks(subscription, 2)
    yield* insertMany("waiting", [
      {
        ...{ subscription: subscription.id, chain: 1, height: 1, due_height: 2, confirmation: 2, target: 2 },
        ...{ each_confirmation: 0, block_hash: new Uint8Array(32), occurrence: "", item: "{}" }
      }
    ])
  }
  const [wallet] = yield* query((db) =>
    db
      .insertInto("wallet")
      .values({
        ...{ account, chain: 1, public_key: "xpub", derivation: "account", format: "P2WPKH", created: 1 },
        ...{ balance: "0", state: "synced", scan_height: null }
      })
      .returning("id")
  )
  const address = new Uint8Array(20).fill(7)
  yield* insertMany("wallet_address", [
    {
      ...{ wallet: wallet!.id, chain: 1, branch: 0, address_index: 0, address, revision: 1 },
      ...{ used_height: null, requested: null }
    }
  ])
  yield* insertMany("synced_address", [
    {
      ...{ account, chain: 1, wallet: 0, address, revision: 1, active: 1, created: 1, callback_url: null },
      ...{ birth: 0, next_height: 0, last_height: -1, state: "synced" }
    }
  ])
  yield* insertMany("synced_wallet", [
    { account, chain: 1, public_key: "xpub", derivation: "account", active: 1, created: 1, birth: 0 }
  ])
  yield* insertMany("reserved_coin", [{ account, chain: 1, source: new Uint8Array(32), number: 0, until: 1 }])
  yield* insertMany("broadcast", [
    {
      ...{ account, chain: 1, transaction_id: new Uint8Array(32), raw: new Uint8Array(1), outcome: "mined" as const },
      ...{ error: null, height: 1, hash: new Uint8Array(32), absences: 0, since_height: 1, next_look: null },
      ...{ created: 1, changed: 1, subscription: null, told: null, tellings: 0 }
    }
  ])
  yield* insertMany("rate_bucket", [{ account, tokens: 1.5, at: 1 }])
  yield* insertMany("verification_hour", [{ account, hour: 1, total: 1 }])
  // More than one statement removes.
  yield* insertMany(
    "delivery_count",
    Array.from({ length: 1_100 }, (_, period) => ({
      ...{ account, host: "example.com", period, outcome: "accepted" as const, millis: 5, attempts: 1 }
    }))
  )
  yield* insertMany("delivery_day", [{ account, day: 0, outcome: "accepted", millis: 5, attempts: 1 }])
  return account
})

const tables = [
  ...(["account", "api_key", "subscription", "waiting", "callback", "domain", "wallet", "wallet_address"] as const),
  ...(["synced_address", "synced_wallet", "credit_balance", "credit_entry", "subscription_count"] as const),
  ...(["broadcast", "reserved_coin"] as const),
  ...(["rate_bucket", "verification_hour", "delivery_count", "delivery_day"] as const)
] satisfies ReadonlyArray<keyof Tables>

const counts = Effect.gen(function* () {
  const { query } = yield* Database
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(
      query((db) => db.selectFrom(table).select(sql<number>`count(*)`.as("count"))),
      ([row]) => [table, Number(row!.count)] as const
    )
  )
})

for (const store of takenStores(import.meta.url)) {
  layer(services.pipe(Layer.provideMerge(store.layer)), { excludeTestServices: true })(
    `An account's end on ${store.name}`,
    (it) => {
      it.effect("takes everything of the account, and nothing of another", () =>
        Effect.gen(function* () {
          const [empty, account] = [yield* counts, yield* fill("leaving")]
          const one = yield* counts
          for (const [i, [table, count]] of one.entries()) assert.isAbove(count, empty[i]![1], table)
          const staying = yield* fill("staying")
          yield* AccountRemoval.remove(account)
          assert.deepStrictEqual(yield* counts, one)
          assert.strictEqual((yield* (yield* Accounts).find("staying")).id, staying)
          yield* AccountRemoval.remove(staying)
          assert.deepStrictEqual(yield* counts, empty)
        })
      )

      it.effect("revokes no key where what belongs to it cannot be done", () =>
        Effect.gen(function* () {
          const accounts = yield* Accounts
          const { id } = yield* accounts.create("not audited")
          yield* accounts.createKey(id, { name: "key" })
          const failing = new DatabaseError({ cause: "full" })
          assert.strictEqual(yield* Effect.flip(AccountRemoval.remove(id, failing)), failing)
          const [key] = yield* accounts.listKeys(id)
          assert.isUndefined(key!.revoked)
          let done = 0
          const also = Effect.sync(() => {
            done++
          })
          yield* AccountRemoval.remove(id, also)
          assert.strictEqual(done, 1)
        })
      )

      it.effect("goes on where it was interrupted", () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const before = yield* counts
          const account = yield* fill("interrupted")
          const left = Effect.map(
            query((db) => db.selectFrom("subscription").select("id").where("account", "=", account)),
            ({ length }) => length
          )
          const some = Effect.repeat(left, { until: (count) => count < 60 })
          yield* Effect.raceFirst(AccountRemoval.remove(account), some)
          yield* AccountRemoval.remove(account)
          assert.deepStrictEqual(yield* counts, before)
        })
      )

      it.effect("can be told before, without what would let others act as the account", () =>
        Effect.gen(function* () {
          const account = yield* fill("exported")
          yield* fill("not exported")
          const lines: Array<AccountExport.Line> = []
          yield* AccountExport.run(account, (line) => Effect.sync(() => lines.push(line)))
          const kinds = Map.groupBy(lines, ({ kind }) => kind)
          assert.deepStrictEqual(
            [...kinds].map(([kind, { length }]) => [kind, length]),
            [
              ["domain", 1],
              ["subscription", 60],
              ["wallet", 1],
              ["synced wallet", 1],
              ["synced address", 1],
              ["broadcast", 1],
              ["callback", 120],
              ["credits", 1]
            ]
          )
          assert.deepInclude(kinds.get("synced address")![0], {
            chain: "ethereum/devnet",
            address: "0x0707070707070707070707070707070707070707"
          })
          assert.notInclude(JSON.stringify(lines), "a secret of the test")
        })
      )
    }
  )
}
