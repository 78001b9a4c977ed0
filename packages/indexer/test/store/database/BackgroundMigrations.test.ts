import { assert, describe, it } from "@effect/vitest"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { takenStores } from "../../../../../test/Stores.ts"

const rowCount = 25

/** A migration that adds a column has left rows to be rewritten: every account's name is to end in "!". */
const before = Effect.gen(function* () {
  const { insertMany } = yield* Database
  yield* insertMany(
    "account",
    Array.from({ length: rowCount }, (_, i) => ({ name: `account ${i}`, created: 1 }))
  )
  yield* insertMany("background_migration", [{ name: "shout", position: 0, last: rowCount }])
  // Made after the migration, in the new form.
  yield* insertMany("account", [{ name: "new!", created: 1 }])
})

const names = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query((db) => db.selectFrom("account").select(["id", "name"]).orderBy("id")),
    (rows) => rows.map(({ name }) => name)
  )
)
const pending = Effect.flatMap(Database, ({ query }) =>
  query((db) => db.selectFrom("background_migration").selectAll())
)

const after = [...Array.from({ length: rowCount }, (_, i) => `account ${i}!`), "new!"]

/** Rewrites in steps of ten rows, and fails in the second step as often as `failures` says. */
const shout = (failures: Ref.Ref<number>): BackgroundMigrations.BackgroundMigration => ({
  name: "shout",
  batchSize: 10,
  rewrite: Effect.fnUntraced(function* ({ after, last }) {
    const { query } = yield* Database
    const rows = yield* query((db) =>
      db.selectFrom("account").select(["id", "name"]).where("id", ">", after).where("id", "<=", last)
    )
    for (const { id, name } of rows) {
      yield* query((db) =>
        db
          .updateTable("account")
          .set({ name: `${name}!` })
          .where("id", "=", id)
      )
    }
    if (after > 0 && (yield* Ref.getAndUpdate(failures, (left) => left - 1)) > 0) {
      return yield* new DatabaseError({ cause: new Error("killed") })
    }
  })
})

for (const store of takenStores(import.meta.url)) {
  describe(`Background migrations on ${store.name}`, () => {
    it.live("rewrite each row once, and go on where they were interrupted", () =>
      Effect.gen(function* () {
        yield* before
        const migration = shout(yield* Ref.make(1))
        yield* Effect.flip(BackgroundMigrations.run([migration]))
        assert.deepStrictEqual(yield* pending, [{ name: "shout", position: 10, last: rowCount }])
        assert.deepStrictEqual((yield* names).filter((name) => name.endsWith("!")).length, 11)
        yield* BackgroundMigrations.run([migration])
        assert.deepStrictEqual(yield* names, after)
        assert.deepStrictEqual(yield* pending, [])
        yield* BackgroundMigrations.run([migration])
        assert.deepStrictEqual(yield* names, after)
      }).pipe(Effect.provide(store.layer), Effect.scoped)
    )

    it.live("are done once by several daemons", () =>
      Effect.gen(function* () {
        yield* before
        const migration = shout(yield* Ref.make(0))
        const run = BackgroundMigrations.run([migration])
        yield* Effect.all([run, run, run], { concurrency: "unbounded" })
        // The others leave a range that somebody is at; whoever was at the last one has ended it.
        yield* run
        assert.deepStrictEqual(yield* names, after)
      }).pipe(Effect.provide(store.layer), Effect.scoped)
    )

    it.live("of another program are left alone", () =>
      Effect.gen(function* () {
        yield* before
        yield* BackgroundMigrations.run([])
        assert.strictEqual((yield* pending).length, 1)
      }).pipe(Effect.provide(store.layer), Effect.scoped)
    )
  })
}
