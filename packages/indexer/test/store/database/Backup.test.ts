import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Backup from "@headwater/indexer/store/database/Backup"
import { Database } from "@headwater/indexer/store/database/Database"
import BetterSqlite from "better-sqlite3"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-backup-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** A store of so many pages that several steps copy it. */
const made = (file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const db = new BetterSqlite(file)
      db.pragma("page_size = 512")
      db.pragma("journal_mode = wal")
      db.exec("create table state (writes int); insert into state values (0); create table filling (bytes blob)")
      db.exec("insert into filling select zeroblob(20000000)")
      return db
    }),
    (db) => Effect.sync(() => db.close())
  )

describe("Backup", () => {
  it.live("copies the state of one moment, however often the store is written meanwhile", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "store.db")
      const copy = `${store}.copy`
      const db = yield* made(store)
      let steps = 0
      yield* Backup.copy(store, copy, () =>
        Effect.sync(() => {
          steps++
          db.exec("update state set writes = writes + 1")
        })
      )
      assert.isAtLeast(steps, 4)
      const copied = new BetterSqlite(copy)
      yield* Effect.addFinalizer(() => Effect.sync(() => copied.close()))
      assert.deepStrictEqual(copied.prepare("select writes from state").all(), [{ writes: 0 }])
      assert.strictEqual(copied.pragma("integrity_check", { simple: true }), "ok")
    }).pipe(Effect.scoped)
  )

  it.live("leaves nothing where it is interrupted", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const store = join(place, "store.db")
      yield* made(store)
      const begun = yield* Deferred.make<void>()
      const copying = yield* Effect.forkChild(
        Backup.copy(store, `${store}.copy`, () => Effect.asVoid(Deferred.succeed(begun, undefined)))
      )
      yield* Deferred.await(begun)
      assert.isTrue(existsSync(`${store}.copy.partial`))
      yield* Fiber.interrupt(copying)
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(readdirSync(place).sort(), ["store.db", "store.db-shm", "store.db-wal"])
      yield* Backup.copy(store, `${store}.copy`, () => Effect.void)
    }).pipe(Effect.scoped)
  )

  it.live("is not opened beside the log of the file whose place it took, and has a log of its own from then on", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const create = (name: string) =>
        Effect.flatMap(Database, ({ query }) => query((db) => db.insertInto("account").values({ name, created: 1 })))
      const on = (file: string) => Effect.provide(Database.layer({ kind: "sqlite", file }))
      /** As a killed process leaves a file. */
      const left = (from: string, to: string, ends = ["", "-wal"]) =>
        Effect.sync(() => {
          for (const end of ends) copyFileSync(`${from}${end}`, `${to}${end}`)
        })
      const [store, copy, restored, killed] = ["store", "copy", "restored", "killed"].map((name) => join(place, name))
      yield* Effect.gen(function* () {
        yield* create("before")
        yield* Backup.copy(store!, copy!, () => Effect.void)
        yield* create("since")
        yield* left(copy!, restored!, [""])
        yield* left(store!, restored!, ["-wal"])
      }).pipe(on(store!))
      const refused = yield* Effect.flip(create("refused").pipe(on(restored!)))
      assert.match(refused.message, /restored is a copy, and .*restored-wal belongs to the file whose place it took/)
      rmSync(restored!)
      const alone = yield* Effect.flip(create("refused").pipe(on(restored!)))
      assert.match(alone.message, /restored-wal is there without its file/)
      assert.isAbove(statSync(`${restored}-wal`).size, 0)
      yield* left(copy!, restored!, [""])
      rmSync(`${restored}-wal`)
      yield* Effect.andThen(create("after"), left(restored!, killed!)).pipe(on(restored!))
      const names = yield* Effect.flatMap(Database, ({ read }) =>
        read((db) => db.selectFrom("account").select("name").orderBy("name"))
      ).pipe(on(killed!))
      assert.deepStrictEqual(names, [{ name: "after" }, { name: "before" }])
    }).pipe(Effect.scoped)
  )
})
