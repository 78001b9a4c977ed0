import { assert, describe, it } from "@effect/vitest"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { Make } from "@headwater/indexer/store/chain/Projection"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as CallbackProjection from "@headwater/indexer/store/subscriptions/CallbackProjection"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { stores } from "../../../../../../test/Stores.ts"
import * as Seed from "../../Seed.ts"

const capacity = {
  host: "free.test",
  limit: 10,
  followOns: [],
  batchSize: 10,
  ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000 },
  retriesFirst: false
}

/** Until a statement waits for a lock that another transaction has. */
const locked = Effect.gen(function* () {
  const { query } = yield* Database
  const waiting = rows(sql`
    select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database or pg_locks.database is null
    where not granted and datname = current_database()`)
  while ((yield* query(waiting)).length === 0) yield* Effect.sleep("5 millis")
})

/** A place at which a transaction stands still until it may go on. */
const halt = () => {
  const reached = Deferred.makeUnsafe<void>()
  const goOn = Deferred.makeUnsafe<void>()
  return {
    here: Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(goOn)),
    reached: Deferred.await(reached),
    goOn: Deferred.succeed(goOn, undefined)
  }
}

// On SQLite one transaction runs at a time.
for (const store of stores.filter(({ name }) => name !== "sqlite")) {
  describe(`Leases beside other transactions on ${store.name}`, () => {
    it.live("takes no callback of blocks that leave the chain meanwhile", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        yield* Seed.subscription(yield* Seed.account, "https://free.test/a")
        const undoing = halt()
        const halting: Make = () =>
          Effect.succeed({ apply: {}, undo: () => Effect.asVoid(undoing.here), reprocess: {} })
        const { commit, undo } = yield* ChainStore.open(Seed.chain, {
          ...{ record: "watched", undoDepth: 64 },
          projections: [CallbackProjection.make, halting]
        })
        const [hash, parent] = [new Uint8Array(32).fill(1), new Uint8Array(32)]
        yield* commit([{ height: 7, hash, parent, time: 0, transactions: [], transfers: [], spends: [] }])
        const undone = yield* Effect.forkChild(undo(6))
        yield* undoing.reached
        const leasing = yield* Effect.forkChild(outbox.lease([capacity], 60_000))
        yield* Effect.raceFirst(locked, Fiber.await(leasing))
        yield* undoing.goOn
        yield* Fiber.join(undone)
        assert.deepStrictEqual(yield* Fiber.join(leasing), [])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provideMerge(Outbox.layer, Layer.provideMerge(Subscriptions.layer, store.layer)))
      )
    )

    it.live("lets a subscription be removed while its callbacks are leased", () =>
      Effect.gen(function* () {
        const leased = halt()
        const mayReceive = () => Effect.as(leased.here, true)
        const outbox = yield* Effect.provide(
          Outbox,
          Layer.provide(Outbox.layer, Layer.succeed(HostPermission, mayReceive))
        )
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const subscription = yield* Seed.subscription(account, "https://free.test/a")
        yield* Seed.callbacks(subscription, 3)
        const leasing = yield* Effect.forkChild(outbox.lease([capacity], 60_000))
        yield* leased.reached
        const { chain, referenceId } = subscription
        const removing = yield* Effect.forkChild(subscriptions.remove({ account, chain, referenceId }))
        yield* locked
        yield* leased.goOn
        assert.strictEqual((yield* Fiber.join(leasing))[0]?.callbacks.length, 3)
        yield* Fiber.join(removing)
        assert.deepStrictEqual(yield* Seed.rows(subscription.id), [])
      }).pipe(Effect.provide(Layer.provideMerge(Subscriptions.layer, store.layer)))
    )
  })
}
