import { closeSync, copyFileSync, existsSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Backup from "@headwater/indexer/store/database/Backup"
import { Database } from "@headwater/indexer/store/database/Database"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import * as StoreMove from "@headwater/indexer/store/database/StoreMove"
import * as UpgradeReport from "@headwater/indexer/store/database/UpgradeReport"
import BetterSqlite from "better-sqlite3"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Folder from "../../../../../test/Folder.ts"
import { isInTurn } from "../../../../../test/Turn.ts"

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

describe.skipIf(!isInTurn(import.meta.url))("Backup", () => {
  it.live("copies the state of one moment, however often the store is written meanwhile", () =>
    Effect.gen(function* () {
      const store = join(yield* Folder.scoped, "store.db")
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
      const place = yield* Folder.scoped
      const store = join(place, "store.db")
      yield* made(store)
      const begun = yield* Deferred.make<void>()
      const copying = yield* Effect.forkChild(
        Backup.copy(store, `${store}.copy`, () => Effect.asVoid(Deferred.succeed(begun, undefined)))
      )
      yield* Deferred.await(begun)
      assert.isTrue(existsSync(`${store}.copy.partial`))
      const { message } = yield* Effect.flip(Backup.copy(store, `${store}.copy`, () => Effect.void))
      assert.include(message, "store.db.copy.partial exists already: let the backup end that copies to it, or remove")
      yield* Fiber.interrupt(copying)
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(readdirSync(place).sort(), ["store.db", "store.db-shm", "store.db-wal"])
      yield* Backup.copy(store, `${store}.copy`, () => Effect.void)
    }).pipe(Effect.scoped)
  )

  it.live("is refused of a file that is damaged or empty, and leaves nothing", () =>
    Effect.gen(function* () {
      const place = yield* Folder.scoped
      const store = join(place, "store.db")
      const db = yield* made(store)
      db.exec("create index by_bytes on filling (bytes); pragma wal_checkpoint(truncate)")
      const root = Number(db.prepare("select rootpage from sqlite_master where name = 'by_bytes'").pluck().get() ?? 0)
      const file = openSync(store, "r+")
      writeSync(file, Buffer.alloc(64, 0xee), 0, 64, (root - 1) * 512)
      closeSync(file)
      const { message } = yield* Effect.flip(Backup.copy(store, `${store}.copy`, () => Effect.void))
      assert.match(message, /store\.db is damaged, and no copy was made \(.+\): keep the copies/)
      assert.deepStrictEqual(readdirSync(place).sort(), ["store.db", "store.db-shm", "store.db-wal"])
      const empty = join(place, "empty.db")
      closeSync(openSync(empty, "w"))
      assert.match((yield* Effect.flip(Backup.pages(empty))).message, /empty\.db is empty/)
    }).pipe(Effect.scoped)
  )

  it.live("is not said to be of a damaged store where it cannot be read through", () =>
    Effect.gen(function* () {
      const store = join(yield* Folder.scoped, "store.db")
      const db = new BetterSqlite(store)
      db.exec("create table state (writes int)")
      db.close()
      const locked = Effect.acquireRelease(
        Effect.sync(() => {
          const other = new BetterSqlite(`${store}.copy.partial`)
          other.exec("begin exclusive")
          return other
        }),
        (other) => Effect.sync(() => other.close())
      )
      const scope = yield* Effect.scope
      const advance = () => Effect.asVoid(Scope.provide(locked, scope))
      const { message } = yield* Effect.flip(Backup.copy(store, `${store}.copy`, advance))
      assert.strictEqual(message, "Cannot copy the store: database is locked")
    }).pipe(Effect.scoped)
  )

  it.live("is not opened beside the log of the file whose place it took, and has a log of its own from then on", () =>
    Effect.gen(function* () {
      const place = yield* Folder.scoped
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
      const source = { kind: "sqlite", file: restored! } as const
      const database = { kind: "postgres", url: Redacted.make("postgres://127.0.0.1:1/none"), connections: 1 } as const
      const openings: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> = [
        create("refused").pipe(on(restored!)),
        Backup.copy(restored!, `${restored}.copy`, () => Effect.void),
        UpgradeReport.read(source),
        Effect.scoped(StoreMove.open(source, database)),
        StoreMove.cancel(source)
      ]
      for (const opening of openings) {
        const { message } = yield* Effect.flip(opening)
        assert.match(message, /restored is a copy, and .*restored-wal belongs to the file whose place it took/)
      }
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

  it.live("is opened while another process reads it, and after a kill at any time", () =>
    Effect.gen(function* () {
      const place = yield* Folder.scoped
      const [store, copy, killed] = ["store", "copy", "killed"].map((name) => join(place, name))
      const open = (file: string) => Effect.scoped(Layer.build(Database.layer({ kind: "sqlite", file })))
      yield* open(store!)
      yield* Backup.copy(store!, copy!, () => Effect.void)
      const reader = new BetterSqlite(copy!, { readonly: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => reader.close()))
      reader.exec("begin")
      reader.prepare("select 1 from account").get()
      const machine = yield* SqliteMachine
      let answers = 0
      const thread: typeof machine.thread = (options) => {
        const thread = machine.thread(options)
        thread.on("message", () => {
          for (const end of ["", "-wal"]) copyFileSync(`${copy}${end}`, `${killed}${answers}${end}`)
          answers++
        })
        return thread
      }
      yield* Effect.provideService(open(copy!), SqliteMachine, { ...machine, thread })
      assert.isAbove(answers, 0)
      for (let i = 0; i < answers; i++) yield* open(`${killed}${i}`)
    }).pipe(Effect.scoped)
  )
})
