import { assert, describe, it } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Effect from "effect/Effect"
import { locations } from "../../../../../test/Stores.ts"

for (const { location, name } of locations) {
  describe(`StoreHealth on ${name}`, () => {
    it.live("says where the store is, and how many chains have blocks in it", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* StoreHealth.answers
          yield* query((db) =>
            db.insertInto("chain").values([
              { name: "a/b", height: 1 },
              { name: "c/d", height: null }
            ])
          )
          const { chains, file, server } = yield* StoreHealth.inspect(store)
          assert.strictEqual(chains, 1)
          if (store.kind === "sqlite") {
            assert.isUndefined(server)
            assert.deepInclude(file, { name: store.file, mode: 0o600, folder: store.file.replace("/store.db", "") })
            assert.isAbove(file!.free, 0)
          } else {
            assert.isUndefined(file)
            assert.match(server!.version, /^PostgreSQL \d+/)
            assert.isAtMost(Math.abs(server!.clockAhead), 1)
          }
          assert.isAbove(yield* StoreHealth.size(store), 50_000)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )

    it.live("fails where the store does not answer", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* query((db) => db.schema.dropTable("chain"))
          yield* Effect.flip(StoreHealth.answers)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )
  })
}
