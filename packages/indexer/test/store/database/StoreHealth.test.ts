import { randomUUID } from "node:crypto"
import { closeSync, openSync, statSync, writeSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { takenUnmigrated, unmigrated } from "../../../../../test/Stores.ts"

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`StoreHealth on ${name}`, () => {
    it.live("says where the store is, and how many chains have blocks in it", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* StoreHealth.works
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
            assert.deepStrictEqual(file!.damage, [])
          } else {
            assert.isUndefined(file)
            assert.match(server!.version, /^PostgreSQL \d+/)
            assert.isAtMost(Math.abs(server!.clockAhead), 1)
            assert.deepInclude(server!.role, { readOnly: false, altersSchema: true, refused: [] })
          }
          assert.isAbove(yield* StoreHealth.size(store), 50_000)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")("names the tables that a role may not write, also of partitions", () =>
      Effect.gen(function* () {
        const store = yield* location
        const role = `reader_${randomUUID().replaceAll("-", "")}`
        const run = (statement: string) => Effect.flatMap(Database, ({ query }) => query(rows(sql.raw(statement))))
        yield* Effect.gen(function* () {
          const { transaction } = yield* Database
          const inspected = transaction(
            Effect.gen(function* () {
              yield* run(`create role ${role}`)
              yield* run(`grant select, insert, update, delete on all tables in schema public to ${role}`)
              yield* run(`revoke delete on packed_internal_default, callback from ${role}`)
              yield* run(`set local role ${role}`)
              const { server } = yield* StoreHealth.inspect(store)
              return yield* Effect.fail(server!.role.refused)
            })
          )
          // What was made for the test is gone again with the transaction.
          assert.deepStrictEqual(yield* Effect.flip(inspected), [
            "callback",
            "callback_number",
            "packed_internal_default"
          ])
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )

    it.live("proves that the store is written, and takes no room for that", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const written = store.kind === "sqlite" ? () => statSync(`${store.file}-wal`).mtimeMs : undefined
          const before = written?.()
          const size = yield* StoreHealth.size(store)
          for (let i = 0; i < 300; i++) yield* StoreHealth.works
          if (written !== undefined) assert.isAbove(written(), before!)
          // SQLite begins its log anew at 10,000 pages of 8 KiB; PostgreSQL prunes a page as it is read.
          assert.isBelow((yield* StoreHealth.size(store)) - size, 302 * 8_300)
          if (store.kind === "postgres") assert.isAtMost((yield* StoreHealth.size(store)) - size, 65_536)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")("fails where there is no room for a new page", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* StoreHealth.works
          // Holds for connections that are opened from now on.
          yield* query(
            rows(
              sql`do $$ begin execute format('alter database %I set temp_file_limit = 0', current_database()); end $$`
            )
          )
        }).pipe(Effect.provide(Database.layer(store)))
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          // There is room for a changed row, which a full disk has too.
          yield* query(rows(sql`update store_format set id = id where id = 1`))
          yield* Effect.flip(StoreHealth.works)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )

    it.live("fails where the store does not answer", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* query((db) => db.schema.dropTable("chain"))
          yield* Effect.flip(StoreHealth.works)
        }).pipe(Effect.provide(Database.layer(store)))
      }).pipe(Effect.scoped)
    )
  })
}

const damaged = (file: string) => {
  // What is in the log beside the file is read from there.
  const store = new BetterSqlite(file)
  store.pragma("wal_checkpoint(TRUNCATE)")
  store.close()
  const descriptor = openSync(file, "r+")
  const garbage = Buffer.alloc(8192, 0x5a)
  // Every page but the first, which has the schema.
  for (let page = 1; page < statSync(file).size / 8192; page++) writeSync(descriptor, garbage, 0, 8192, page * 8192)
  closeSync(descriptor)
}

const [{ location: sqlite }] = unmigrated as [(typeof unmigrated)[number]]

describe("a damaged SQLite file", () => {
  it.live("is found by a look through, and remembered once a statement has met the damage", () =>
    Effect.gen(function* () {
      const store = (yield* sqlite) as { readonly kind: "sqlite"; readonly file: string }
      yield* Effect.provide(
        Effect.flatMap(Database, ({ query }) =>
          query((db) => db.insertInto("account").values({ name: "a", created: 1 }))
        ),
        Database.layer(store)
      )
      yield* Effect.gen(function* () {
        const { damage, read } = yield* Database
        assert.isUndefined(yield* damage)
        damaged(store.file)
        yield* Effect.flip(read((db) => db.selectFrom("subscription").selectAll()))
        assert.match((yield* damage) ?? "", /malformed/)
        const found = yield* Effect.result(StoreHealth.inspect(store))
        assert.isTrue(found._tag === "Failure" || (found.success.file!.damage ?? []).length > 0)
      }).pipe(Effect.provide(Database.layer(store)))
    }).pipe(Effect.scoped)
  )
})

describe("a failure of the store", () => {
  it("is told from a statement that no store could run", () => {
    const failed = (code: string | undefined, error: Error = new Error("no")) =>
      new DatabaseError({ cause: Object.assign(error, code === undefined ? {} : { code }) }).storeFailed
    for (const code of ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_READONLY"])
      assert.isTrue(failed(code), code)
    for (const code of ["53100", "57P01", "25006", "42501", "58030", "XX001", "ECONNREFUSED", "ETIMEDOUT", undefined])
      assert.isTrue(failed(code), code)
    for (const code of ["23505", "22003", "42P01", "42601", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_ERROR", "TypeError"])
      assert.isFalse(failed(code), code)
    assert.isFalse(failed(undefined, new TypeError("no")))
  })
})
