import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as PostgresAdapter from "@headwater/indexer/store/database/internal/PostgresAdapter"
import * as SqliteAdapter from "@headwater/indexer/store/database/internal/SqliteAdapter"
import * as missingParts from "@headwater/indexer/store/database/migrations/0023_missing_parts"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { unmigrated } from "../../../../../test/Stores.ts"
import * as Released from "./Released.ts"
import { readsRight } from "./released/readsRight.ts"

/** Opens and closes the store; what it fails with. */
const open = (location: Location) => Effect.scoped(Layer.build(Database.layer(location)))

for (const { location, name } of unmigrated) {
  describe(`Migrations on ${name}`, () => {
    for (const release of Released.releases) {
      it.live(`bring a store of ${release} with its data to the schema of a new one`, () =>
        Effect.gen(function* () {
          const [upgraded, empty] = [yield* location, yield* location]
          yield* Released.load(release, upgraded)
          // Whatever that release had found out of a wallet is looked for again.
          yield* Released.execute(upgraded, "update wallet set state = 'synced', scan_height = 1")
          yield* readsRight(upgraded)
          yield* open(empty)
          const schema = yield* Released.schemaOf(upgraded)
          assert.deepStrictEqual(schema, yield* Released.schemaOf(empty))
          yield* open(upgraded)
          assert.deepStrictEqual(yield* Released.schemaOf(upgraded), schema)
        }).pipe(Effect.scoped)
      )
    }

    it.live("put the parts that each block lacks into ranges", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* open(store)
        const lacking = [
          ...[...[3, 4, 5, 7, 9, 10].map((height) => [1, height, "internal"]), [2, 6, "internal"], [2, 7, "internal"]],
          ...[4, 6].map((height) => [1, height, "other"])
        ]
        const values = lacking.map(([chain, height, part]) => `(${chain}, ${height}, '${part}', 'no state')`).join()
        yield* Released.execute(
          store,
          `drop table missing_parts;
           create table missing_part (chain bigint, height bigint, part text, reason text,
             primary key (chain, height, part));
           insert into missing_part values ${values};
           ${missingParts.up(store.kind === "sqlite" ? SqliteAdapter.columnTypes : PostgresAdapter.columnTypes).join(";")}`
        )
        const rows = yield* Effect.gen(function* () {
          const { read } = yield* Database
          return yield* read((db) =>
            db.selectFrom("missing_parts").selectAll().orderBy("chain").orderBy("part").orderBy("from_height")
          )
        }).pipe(Effect.provide(Database.layer(store)))
        assert.deepStrictEqual(
          rows.map(({ chain, from_height: from, part, to_height: to }) => [chain, part, from, to] as const),
          [
            [1, "internal", 3, 5],
            [1, "internal", 7, 7],
            [1, "internal", 9, 10],
            ...[4, 6].map((height) => [1, "other" as "internal", height, height] as const),
            [2, "internal", 6, 7]
          ]
        )
        assert.isTrue(rows.every(({ reason }) => reason === "no state"))
      }).pipe(Effect.scoped)
    )

    it.live("let several processes begin at once on an empty store", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.all(
          Array.from({ length: 5 }, () => open(store)),
          { concurrency: "unbounded" }
        )
        yield* open(store)
      }).pipe(Effect.scoped)
    )

    it.live("refuse a program that is older than the store allows, and no other", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* open(store)
        yield* Released.execute(
          store,
          "insert into kysely_migration values ('9998_addition', '2100-01-01T00:00:00.000Z')"
        )
        yield* open(store)
        yield* Released.execute(
          store,
          `insert into kysely_migration values ('9999_change', '2100-01-01T00:00:00.001Z');
           update store_format set oldest_migration = '9999_change', oldest_program = '7.8.9'`
        )
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreTooNew")
        assert.match(error.message, /headwater 7\.8\.9 is the oldest that may run on it: install that or a newer one/)
      }).pipe(Effect.scoped)
    )

    it.live("say what to do with a store that 0.1 was killed in while it made the tables", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Released.execute(store, "create table chain (id bigint)")
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreIncomplete")
        assert.match(
          error.message,
          /^Migration 0001_main cannot be applied, .*chain.* already exists\. Either headwater 0\.1 was killed/
        )
        assert.match(error.message, /give the store a new file, or an empty database$/)
        // Nothing else was made on the way.
        yield* Released.execute(store, "drop table chain")
        yield* open(store)
      }).pipe(Effect.scoped)
    )
  })
}

describe("Migrations of a SQLite file", () => {
  it.live("wait for the process that has the store, which any other command need not", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      yield* Released.load("0.1", store)
      yield* Effect.gen(function* () {
        yield* StoreLock.acquire(store)
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreInUse")
        assert.match(error.message, /^Its schema is to be brought up to date first\. The store .* is in use by another/)
      }).pipe(Effect.scoped)
      yield* open(store)
      yield* StoreLock.acquire(store)
      yield* open(store)
    }).pipe(Effect.scoped)
  )
})
