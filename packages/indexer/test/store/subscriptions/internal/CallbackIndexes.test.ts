import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import * as DeliveryStatus from "@headwater/indexer/store/subscriptions/internal/DeliveryStatus"
import * as DueCallbacks from "@headwater/indexer/store/subscriptions/internal/DueCallbacks"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WaitingCallbacks from "@headwater/indexer/store/subscriptions/WaitingCallbacks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { takenStores } from "../../../../../../test/Stores.ts"
import * as Plans from "../../Plans.ts"
import * as Seed from "../../Seed.ts"

/** The indexes of callbacks that the statements of an effect read. */
const indexesOf = <A, E>(kind: Plans.Kind, self: Effect.Effect<A, E, Database>, options?: { readonly run: boolean }) =>
  Effect.map(Plans.of(kind, self, options), (plans) =>
    plans.map((plan) => [...new Set(plan.match(/\b(callback_\w+|Seq Scan on callback)\b/g) ?? [])].sort())
  )

for (const store of takenStores(import.meta.url)) {
  layer(Subscriptions.layer.pipe(Layer.provideMerge(store.layer)))(`CallbackIndexes on ${store.name}`, (it) => {
    it.effect("finds what a subscription has due without reading all that it was ever sent", () =>
      Effect.gen(function* () {
        const { insertMany, query, transaction } = yield* Database
        const { id, ...subscription } = yield* Seed.subscription(yield* Seed.account, "https://a.test/")
        const host = new URL(subscription.callbackUrl).hostname
        const callback = { subscription: id, host, chain: 1, height: 1, event: "E", body: "{}", due: 1, created: 1 }
        yield* transaction(
          insertMany(
            "callback",
            Array.from({ length: 20_000 }, (_, i) => ({
              ...callback,
              ...{ idempotency_key: `${i}`, sequence: i + 1, attempts: 1 },
              state: i % 10_000 === 0 ? ("due" as const) : ("delivered" as const)
            }))
          )
        )
        if (store.name === "postgres") yield* query(rows(sql`analyze callback`))
        assert.deepStrictEqual(yield* indexesOf(store.name, CallbackState.park({ id, host })), [
          ["callback_first"],
          ["callback_retry"]
        ])
        const [status] = yield* indexesOf(store.name, DeliveryStatus.read({ id, host }))
        assert.includeMembers([...status!], ["callback_first", "callback_retry"])
        assert.deepStrictEqual(yield* indexesOf(store.name, WaitingCallbacks.count(1, 10)), [["callback_waiting"]])
        assert.deepStrictEqual(yield* indexesOf(store.name, WaitingCallbacks.fullAccounts(10, 10)), [
          ["callback_waiting"]
        ])
        const turns = { accountCursor: 0, accounts: new Map(), accountLimit: 1, callbacks: 10_000 }
        const capacity = { host, limit: 1, batchSize: 1, followOns: [], retriesFirst: false, ...turns }
        const [accounts] = yield* indexesOf(store.name, DueCallbacks.streams(capacity, 1, 0))
        assert.deepStrictEqual(accounts, ["callback_turn"])
        assert.deepStrictEqual(yield* indexesOf(store.name, DueCallbacks.retries(capacity, 1, 1), { run: true }), [
          ["callback_retry_turn"],
          ["callback_retry_turn"]
        ])

        yield* CallbackState.park({ id, host })
        const { parked } = yield* DeliveryStatus.read({ id, host })
        assert.strictEqual(parked, 2)
      })
    )
  })
}
