import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as WatchedAddresses from "@headwater/indexer/store/chain/WatchedAddresses"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { address } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const block = (paid: ReadonlyArray<number>) => ({
  ...{ height: 1, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 1, transactions: [new Uint8Array(32)] },
  spends: [],
  transfers: paid.map((to, position) => ({
    ...({ kind: "coin", transaction: 0, position, amount: 1n } as const),
    from: address(9_000),
    to: address(to)
  }))
})

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

/** An address among other bytes. */
const spanOf = (number: number) => {
  const bytes = Uint8Array.of(7, ...address(number), 7)
  return { bytes, at: 1, length: bytes.length - 2 }
}

for (const { name, layer } of takenStores(import.meta.url)) {
  describe(`WatchedAddresses (${name})`, () => {
    it.live("come page by page, with turns for others between, whichever revisions they share", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const account = yield* Seed.account
        yield* query((db) => db.insertInto("chain").values({ id: 7, name: Chain.nameOf(chain), revision: 9 }))
        const subscriptions = Array.from({ length: 4_500 }, (_, i) => ({
          ...{ reference_id: `r${i}`, account, chain: 7, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const },
          ...{ address: address(i), callback_url: "https://example.com/", host: "example.com", secret: null },
          // The first and the last have revisions of their own, and all between share one.
          revision: i === 0 ? 1 : i === 4_499 ? 9 : 4,
          ...{ confirmations: 1, created: 1, from_height: null, active: 1 }
        }))
        yield* insertMany("subscription", subscriptions)
        let [turns, counts] = [0, true]
        const turn = () => {
          turns++
          if (counts) setImmediate(turn)
        }
        setImmediate(turn)
        const watched = yield* WatchedAddresses.make(7)
        yield* watched.catchUpToRevision(4)
        counts = false
        assert.isAtLeast(turns, 4)
        assert.strictEqual(watched.set.size(), 4_499)
        yield* watched.catchUpToRevision(9)
        assert.isTrue(subscriptions.every((row) => watched.set.has(row.address)))
      }).pipe(Effect.provide(layer))
    )

    it.live("are told by the store until all have been read, to blocks that do not wait for that", () =>
      Effect.gen(function* () {
        const { insertMany, query, transaction } = yield* Database
        const account = yield* Seed.account
        // A transaction, since the first one of a process never reads ahead to the end.
        yield* transaction(
          query((db) => db.insertInto("chain").values({ id: 7, name: Chain.nameOf(chain), revision: 3 }))
        )
        const row = (i: number, revision: number) => ({
          ...{ reference_id: `r${i}`, account, chain: 7, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const },
          ...{ address: address(i), callback_url: "https://example.com/", host: "example.com", secret: null },
          ...{ revision, confirmations: 1, created: 1, from_height: null, active: i === 2_400 ? 0 : 1 }
        })
        yield* insertMany(
          "subscription",
          Array.from({ length: 2_500 }, (_, i) => row(i, 3))
        )
        const reading = yield* Latch.make()
        const watched = yield* Effect.provideService(WatchedAddresses.make(7), WatchedAddresses.Filling, {
          atOnce: 1_000,
          pause: reading.await
        })
        yield* watched.fill(3)
        assert.strictEqual(watched.set.size(), Number.POSITIVE_INFINITY)
        let [runs, inserted] = [0, 0]
        const seen = (revision: number, numbers: ReadonlyArray<number>) =>
          watched.transaction(
            Effect.gen(function* () {
              yield* watched.catchUpToRevision(revision)
              runs++
              yield* query((db) => db.updateTable("chain").set({ height: ++inserted }))
              return numbers.filter((number) => watched.set.has(address(number)))
            })
          )
        const asked = [0, 2_400, 2_499, 3_000]
        assert.deepStrictEqual(yield* seen(3, asked), [0, 2_499])
        assert.strictEqual(runs, 2, "undone, and entered again with what the store told")
        assert.deepStrictEqual(yield* seen(3, asked), [0, 2_499])
        assert.strictEqual(runs, 3)

        // An address that the store did not know comes with a later revision, whichever was asked about it.
        yield* insertMany("subscription", [row(3_000, 4)])
        assert.deepStrictEqual(yield* seen(4, asked), [0, 2_499, 3_000])
        yield* watched.release([address(2_499)])
        assert.deepStrictEqual(yield* seen(4, asked), [0, 3_000])

        yield* watched.foresee([block([1_500, 1_600, 4_000])])
        const before = runs
        assert.deepStrictEqual(yield* seen(4, [1_500, 1_600, 4_000]), [1_500, 1_600])
        assert.strictEqual(runs, before + 1, "the store was asked before")

        yield* reading.open
        yield* Effect.repeat(Effect.delay(Effect.sync(watched.set.size), "5 millis"), {
          until: (size) => size !== Number.POSITIVE_INFINITY
        })
        assert.strictEqual(watched.set.size(), 2_500)
        assert.deepStrictEqual(yield* seen(4, [5, 2_000, 2_400, 5_000]), [5, 2_000])
        assert.strictEqual(runs, before + 2)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live(
      "are told where they stand among other bytes, and by their form, while they are read and for consumers",
      () =>
        Effect.gen(function* () {
          const { insertMany, query } = yield* Database
          const account = yield* Seed.account
          yield* query((db) => db.insertInto("chain").values({ id: 7, name: Chain.nameOf(chain), revision: 3 }))
          yield* insertMany(
            "subscription",
            Array.from({ length: 2_500 }, (_, i) => ({
              ...{ reference_id: `r${i}`, account, chain: 7, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const },
              ...{ address: address(i), callback_url: "https://example.com/", host: "example.com", secret: null },
              ...{ revision: 3, confirmations: 1, created: 1, from_height: null, active: 1 }
            }))
          )
          const reading = yield* Latch.make()
          const watched = yield* Effect.provideService(WatchedAddresses.make(7), WatchedAddresses.Filling, {
            atOnce: 1_000,
            pause: reading.await
          })
          yield* watched.fill(3)
          const { set } = watched
          const asked = [0, 2_499, 3_000]
          const seen = watched.transaction(Effect.sync(() => asked.filter((number) => set.hasAt(spanOf(number)))))
          assert.deepStrictEqual(yield* seen, [0, 2_499])
          assert.isTrue(set.hasLike(99, 1), "what is yet to be read may have any form")
          yield* reading.open
          yield* Effect.repeat(Effect.delay(Effect.sync(set.size), "5 millis"), { until: (size) => size === 2_500 })
          assert.deepStrictEqual(yield* seen, [0, 2_499])
          assert.isFalse(set.hasLike(99, 1))

          const consuming = yield* Effect.provideService(WatchedAddresses.make(7), ConsumedAddresses.Current, {
            ...{ addresses: ConsumedAddresses.make([address(3_000)]), onRecorded: Effect.void }
          })
          assert.isTrue(consuming.set.hasAt(spanOf(3_000)))
          assert.isFalse(consuming.set.hasAt(spanOf(0)))
          assert.isTrue(consuming.set.hasLike(address(3_000).length, address(3_000)[0]!))
        }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("fail to be read as the store does, before the first block", () =>
      Effect.gen(function* () {
        const watched = yield* WatchedAddresses.make(7)
        const { query } = yield* Database
        yield* query(rows(sql`alter table listed_address rename to elsewhere`))
        assert.strictEqual((yield* Effect.flip(watched.fill(1)))._tag, "DatabaseError")
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
