/** What somebody outside has seen under a number outlasts a loss of power: the log is on the disk before. */
import { assert, describe, it } from "@effect/vitest"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import { Database } from "@headwater/indexer/store/database/Database"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const capacity = {
  ...{
    host: "free.test",
    limit: 10,
    followOns: [],
    batchSize: 10,
    accountCursor: 0,
    accountLimit: 100,
    callbacks: 10_000
  },
  ...{ accounts: new Map(), retriesFirst: false }
}

describe("numbers on the disk", () => {
  it.effect("callbacks are sent, and feeds show them, once their numbers are there; retries wait for nothing", () => {
    let flushes = 0
    const machine = Layer.effect(
      SqliteMachine,
      Effect.map(SqliteMachine, ({ thread }) => ({
        thread,
        flush: () => Effect.succeed(Effect.sync(() => void flushes++))
      }))
    )
    const services = Layer.mergeAll(Callbacks.layer, AccountFeed.layer).pipe(
      Layer.provideMerge(Outbox.layer),
      Layer.provideMerge(Subscriptions.layer),
      Layer.provideMerge(hostPermission(new Set(["free.test"]))),
      Layer.provideMerge(Domains.layer),
      Layer.provideMerge(stores[0]!.layer),
      Layer.provide(machine)
    )
    return Effect.gen(function* () {
      const outbox = yield* Outbox
      const account = yield* Seed.account
      const subscription = yield* Seed.subscription(account, "https://free.test/a")
      yield* Seed.callbacks(subscription, 1)
      const [lease] = yield* outbox.lease([capacity], 60_000)
      assert.strictEqual(flushes, 1)
      const attempt = { at: 0, duration: 7, status: 500, error: "answered 500" }
      yield* outbox.acknowledge([{ kind: "retry", callback: lease!.callbacks[0]!, due: 0, attempt }])
      const [again] = yield* outbox.lease([capacity], 60_000)
      assert.strictEqual(again!.callbacks[0]!.sequence, 1)
      assert.strictEqual(flushes, 1)

      yield* Seed.callbacks(subscription, 1, { label: "shown" })
      const accountFeed = yield* AccountFeed
      const read = accountFeed.read(account, { after: 0, limit: 10 })
      assert.strictEqual((yield* read).callbacks.length, 2)
      assert.strictEqual(flushes, 2)
      yield* read
      assert.strictEqual(flushes, 2)
      yield* Seed.callbacks(subscription, 1, { label: "shown by its own feed" })
      const { read: select } = yield* Database
      const [row] = yield* select((db) => db.selectFrom("subscription").select("reference_id"))
      const key = { account, chain: Seed.chain, referenceId: row!.reference_id }
      const callbacks = yield* Callbacks
      assert.strictEqual((yield* callbacks.list(key, { after: 0, limit: 10 })).callbacks.length, 3)
      assert.strictEqual(flushes, 3)
    }).pipe(Effect.provide(services))
  })
})
