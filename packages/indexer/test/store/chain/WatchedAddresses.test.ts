import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as WatchedAddresses from "@headwater/indexer/store/chain/WatchedAddresses"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { stores } from "../../../../../test/Stores.ts"
import { address } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

for (const { name, layer } of stores) {
  describe(`WatchedAddresses (${name})`, () => {
    it.live("come page by page, with turns for others between, whichever revisions they share", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const account = yield* Seed.account
        yield* query((db) => db.insertInto("chain").values({ id: 7, name: Chain.nameOf(chain), revision: 9 }))
        const rows = Array.from({ length: 4_500 }, (_, i) => ({
          ...{ reference_id: `r${i}`, account, chain: 7, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const },
          ...{ address: address(i), callback_url: "https://example.com/", host: "example.com", secret: null },
          // The first and the last have revisions of their own, and all between share one.
          revision: i === 0 ? 1 : i === 4_499 ? 9 : 4,
          ...{ confirmations: 1, created: 1, from_height: null, active: 1 }
        }))
        yield* insertMany("subscription", rows)
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
        assert.isTrue(rows.every((row) => watched.set.has(row.address)))
      }).pipe(Effect.provide(layer))
    )
  })
}
