import { chmodSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { locations, stores } from "../../../../../test/Stores.ts"

describe("a SQLite file", () => {
  it.live("is for its owner alone, with all that lies beside it, unless an operator has opened it to others", () =>
    Effect.gen(function* () {
      const [{ location }] = locations as [(typeof locations)[number]]
      const store = (yield* location) as { readonly kind: "sqlite"; readonly file: string }
      const modes = Effect.gen(function* () {
        const { query } = yield* Database
        yield* query((db) => db.insertInto("account").values({ name: crypto.randomUUID(), created: 1 }))
        return readdirSync(dirname(store.file)).map(
          (name) => [name, (statSync(join(dirname(store.file), name)).mode & 0o777).toString(8)] as const
        )
      }).pipe(Effect.provide(Database.layer(store)))
      assert.deepStrictEqual(yield* modes, [
        ["store.db", "600"],
        ["store.db-shm", "600"],
        ["store.db-wal", "600"],
        ["store.db.lock", "600"]
      ])
      chmodSync(store.file, 0o640)
      assert.deepInclude(yield* modes, ["store.db", "640"])
    }).pipe(Effect.scoped)
  )
})

for (const store of stores) {
  layer(store.layer, { excludeTestServices: true })(`Database on ${store.name}`, (it) => {
    const names = Effect.gen(function* () {
      const { read } = yield* Database
      const rows = yield* read((db) => db.selectFrom("account").select("name").orderBy("id"))
      return rows.map((row) => row.name)
    })
    const insert = (name: string) =>
      Effect.flatMap(Database, ({ query }) => query((db) => db.insertInto("account").values({ name, created: 1 })))

    it.effect("commits, rolls back, and joins the surrounding transaction", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        yield* transaction(insert("a"))
        yield* Effect.flip(transaction(Effect.andThen(insert("b"), Effect.fail("no"))))
        assert.deepStrictEqual(yield* names, ["a"])
        yield* Effect.flip(transaction(Effect.andThen(transaction(insert("c")), Effect.fail("no"))))
        assert.deepStrictEqual(yield* names, ["a"])
        yield* transaction(
          Effect.gen(function* () {
            yield* insert("d")
            assert.deepStrictEqual(yield* names, ["a", "d"])
          })
        )
        assert.deepStrictEqual(yield* names, ["a", "d"])
      })
    )

    it.effect("rolls back when interrupted", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const fiber = yield* Effect.forkChild(transaction(Effect.andThen(insert("e"), Effect.never)))
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* names, ["a", "d"])
      })
    )

    it.effect("tells a duplicate from other failures", () =>
      Effect.gen(function* () {
        assert.isTrue((yield* Effect.flip(insert("a"))).duplicate)
        const { query } = yield* Database
        const failure = yield* Effect.flip(query((db) => db.selectFrom("nothing" as "account").selectAll()))
        assert.isFalse(failure.duplicate)
      })
    )

    it.effect("has done what was written when it is read, and before the transaction ends", () =>
      Effect.gen(function* () {
        const { defer, query, read, transaction } = yield* Database
        const [{ id }] = (yield* query((db) =>
          db.insertInto("account").values({ name: "f", created: 1 }).returning("id")
        )) as [{ readonly id: number }]
        const rename = (name: string) => defer((db) => db.updateTable("account").set({ name }).where("id", "=", id))
        const name = Effect.map(
          read((db) => db.selectFrom("account").select("name").where("id", "=", id)),
          ([row]) => row!.name
        )
        yield* transaction(
          Effect.gen(function* () {
            yield* rename("g")
            yield* rename("h")
            assert.strictEqual(yield* name, "h")
            yield* rename("i")
          })
        )
        assert.strictEqual(yield* name, "i")
        yield* Effect.flip(transaction(Effect.andThen(rename("j"), Effect.fail("no"))))
        assert.strictEqual(yield* name, "i")
        yield* rename("k")
        assert.strictEqual(yield* name, "k")
      })
    )

    it.effect("undoes everything where a statement fails that was written, and goes on", () =>
      Effect.gen(function* () {
        const { insertMany, transaction } = yield* Database
        const before = yield* names
        const twice = insertMany("account", [{ name: "a", created: 1 }])
        assert.isTrue((yield* Effect.flip(transaction(Effect.andThen(insert("l"), twice)))).duplicate)
        assert.isTrue((yield* Effect.flip(transaction(Effect.andThen(twice, insert("m"))))).duplicate)
        assert.deepStrictEqual(yield* names, before)
        yield* transaction(insert("n"))
        assert.deepStrictEqual(yield* names, [...before, "n"])
      })
    )

    it.effect("inserts many rows at once, bytes and big integers unharmed", () =>
      Effect.gen(function* () {
        const { insertMany, read, transaction } = yield* Database
        const rows = Array.from({ length: 30_000 }, (_, height) => ({
          chain: 1,
          height,
          hash: Uint8Array.of(height & 255, height >> 8),
          parent: new Uint8Array(32),
          time: 2 ** 45 + height
        }))
        yield* transaction(insertMany("block", rows))
        const [row] = yield* read((db) => db.selectFrom("block").selectAll().where("height", "=", 29_999))
        assert.deepStrictEqual([...row!.hash], [29_999 & 255, 29_999 >> 8])
        assert.strictEqual(row!.time, 2 ** 45 + 29_999)
        assert.isTrue((yield* Effect.flip(transaction(insertMany("block", rows.slice(5, 6))))).duplicate)
      })
    )
  })
}
