import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const other = Result.getOrThrow(Chain.find("litecoin", "regtest"))

for (const store of takenStores(import.meta.url)) {
  layer(store.layer)(`ChainRow on ${store.name}`, (it) => {
    it.effect("makes a chain's row once, counts its revision up under its lock, and moves its cursor", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        assert.isUndefined(yield* ChainRow.find(chain))
        const id = yield* ChainRow.make(chain)
        assert.strictEqual(yield* ChainRow.make(chain), id)
        assert.deepInclude(yield* ChainRow.find(chain), { id, name: "ethereum/devnet", height: null, revision: 0 })
        const bumped = yield* Effect.all(
          Array.from({ length: 5 }, () => transaction(ChainRow.lockAndBumpRevision(id))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(bumped.map(({ revision }) => revision).sort(), [1, 2, 3, 4, 5])
        const hash = Uint8Array.of(1, 2)
        yield* transaction(
          Effect.gen(function* () {
            yield* ChainRow.moveCursor(id, { height: 7, hash, firstHeight: 7 })
            assert.strictEqual((yield* ChainRow.lock(id)).height, 7)
          })
        )
        assert.deepInclude(yield* ChainRow.present(chain), { height: 7, first_height: 7, revision: 5 })
      })
    )

    it.effect("makes the row of a chain whose revision is counted up before anything is stored", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const { id, revision } = yield* transaction(ChainRow.lockAndBumpRevisionOf(other))
        assert.strictEqual(revision, 1)
        assert.deepInclude(
          (yield* ChainRow.all).find(({ name }) => name === "litecoin/regtest"),
          { id, revision: 1 }
        )
      })
    )
  })
}
