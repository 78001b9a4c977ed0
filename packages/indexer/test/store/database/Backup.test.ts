import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Backup from "@headwater/indexer/store/database/Backup"
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
})
