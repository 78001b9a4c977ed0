import { assert, describe, it } from "@effect/vitest"
import { fromBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as ReservedNonces from "@headwater/indexer/store/wallets/ReservedNonces"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { stores } from "../../../../../test/Stores.ts"

const chain = Chain.ofName("ethereum/devnet")!
const sender = fromBytes(new Uint8Array(20).fill(1))

for (const store of stores) {
  describe(`ReservedNonces on ${store.name}`, () => {
    it.effect("gives each of many that ask at once a nonce of its own, without a gap", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        // Two daemons at one store.
        const daemons = [yield* ReservedNonces.make(chain), yield* ReservedNonces.make(chain)]
        const taken = yield* Effect.forEach(
          Array.from({ length: ReservedNonces.maxReserved }, (_, i) => i),
          (i) => daemons[i % 2]!.reserve(1, sender, 7, 60_000),
          { concurrency: "unbounded" }
        )
        const nonces = taken.map((each) => (each === "full" ? -1 : each.nonce)).sort((a, b) => a - b)
        assert.deepStrictEqual(
          nonces,
          Array.from({ length: ReservedNonces.maxReserved }, (_, i) => 7 + i)
        )
        assert.strictEqual(yield* daemons[0]!.reserve(1, sender, 7, 60_000), "full")
        // Another account, another sender, and nonces that were used meanwhile.
        for (const [account, who, next] of [
          [2, sender, 7],
          [1, fromBytes(new Uint8Array(20).fill(2)), 7],
          [1, sender, 7 + ReservedNonces.maxReserved]
        ] as const) {
          assert.deepInclude(yield* daemons[1]!.reserve(account, who, next, 60_000), { nonce: next })
        }
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("gives a nonce again when its time is over, and forgets what is over", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { reserve } = yield* ReservedNonces.make(chain)
        for (const nonce of [3, 4]) assert.deepInclude(yield* reserve(1, sender, 3, 60_000), { nonce })
        yield* TestClock.adjust("60 seconds")
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000), { nonce: 3 })
        const { read } = yield* Database
        assert.lengthOf(yield* read((db) => db.selectFrom("reserved_coin").selectAll()), 1)
      }).pipe(Effect.provide(store.layer))
    )
  })
}
