import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as SqliteCheckpoints from "@headwater/indexer/store/database/internal/SqliteCheckpoints"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import * as StoreFile from "@headwater/indexer/store/database/StoreFile"
import { rows } from "@headwater/indexer/store/database/Statements"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { unmigrated } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"

const [{ location }] = unmigrated as [(typeof unmigrated)[number]]

const newFile = Effect.map(location, (store) => (store as { readonly file: string }).file)

/** The program's own thread; tests have others otherwise. */
const machine = SqliteMachine.defaultValue()

const until = (isSo: () => boolean) =>
  Effect.promise(async () => {
    while (!isSo()) await sleep(20)
  })

/** A folder on a disk of its own, `0` for one that does not say how large it is; none where this user may not mount one. */
const ownDisk = (size: "6m" | "0") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "headwater-disk-"))
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "ignore" })
        return { folder, isMounted: true }
      } catch {
        return { folder, isMounted: false }
      }
    }),
    ({ folder, isMounted }) =>
      Effect.sync(() => {
        if (isMounted) execFileSync("umount", ["-l", folder])
        rmSync(folder, { recursive: true, force: true })
      })
  )

/** Some pages in a commit each. */
const fill = (commits: number) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    yield* query(rows(sql`create table filling (bytes blob)`))
    const one = query(rows(sql`insert into filling values (randomblob(400000))`))
    yield* Effect.forEach(Array.from({ length: commits }), () => one, { discard: true })
  })

describe.skipIf(!isInTurn(import.meta.url))("Checkpoints of a SQLite file", () => {
  it("have a SQLite in which they cannot damage a log that begins anew", () => {
    const db = new BetterSqlite(":memory:")
    const version = db.prepare("select sqlite_version()").pluck().get() as string
    db.close()
    const [major, minor, patch] = version.split(".").map(Number) as [number, number, number]
    assert.isAtLeast(major * 1_000_000 + minor * 1000 + patch, 3_051_003)
  })

  it.live("have no thread for a small log", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      let begun = 0
      const committed = SqliteCheckpoints.behindCommits({ file }, () => begun++)
      const store = new BetterSqlite(file)
      store.pragma("journal_mode=wal")
      store.exec("create table filling (bytes blob)")
      const commit = (bytes: number) => {
        store.prepare("insert into filling values (zeroblob(?))").run(bytes)
        committed()
      }
      for (let i = 0; i < 100; i++) commit(10)
      assert.strictEqual(begun, 0)
      commit(10_000_000)
      commit(10)
      assert.strictEqual(begun, 1)
      store.close()
    }).pipe(Effect.scoped)
  )

  it.live("bring the log into the file beside the writer, and end with it", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* Effect.gen(function* () {
        // 24 MB: the writer's own would come with 80.
        yield* fill(60)
        yield* until(() => statSync(file).size > 4_000_000)
      }).pipe(
        Effect.provide(Database.layer({ kind: "sqlite", file })),
        Effect.provideService(SqliteMachine, machine),
        Effect.scoped
      )
      assert.isFalse(existsSync(`${file}-wal`))
      const store = new BetterSqlite(file)
      assert.deepStrictEqual(store.prepare("select count(*) as rows from filling").get(), { rows: 60 })
      assert.deepStrictEqual(store.pragma("integrity_check"), [{ integrity_check: "ok" }])
      store.close()
    }).pipe(Effect.scoped)
  )

  it.live("leave a file or a log alone that is not the writer's", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      const store = new BetterSqlite(file)
      store.pragma("journal_mode=wal")
      store.pragma("wal_autocheckpoint=0")
      store.exec("create table filling (bytes blob)")
      for (let i = 0; i < 60; i++) store.exec("insert into filling values (randomblob(400000))")
      const own = { file: StoreFile.at(file), log: StoreFile.at(StoreFile.logOf(file)) }
      const begin = (own: SqliteCheckpoints.Task["own"]) => {
        const commits = new Int32Array(new SharedArrayBuffer(4))
        commits[0] = 1
        const workerData = { options: { file }, own, commits } satisfies SqliteCheckpoints.Task
        const worker = new URL("../../../src/store/database/internal/SqliteThread.worker.ts", import.meta.url)
        return new Worker(worker, { workerData })
      }
      for (const other of [
        { ...own, file: "0:0" },
        { ...own, log: "0:0" },
        { ...own, log: undefined }
      ]) {
        yield* Effect.promise(() => once(begin(other), "exit"))
      }
      assert.isBelow(statSync(file).size, 100_000)
      const worker = begin(own)
      yield* until(() => statSync(file).size > 8_000_000)
      yield* Effect.promise(() => worker.terminate())
      store.close()
    }).pipe(Effect.scoped)
  )

  it.live("are waited for where the log is to be empty", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* Effect.gen(function* () {
        const { emptyLog } = yield* Database
        const other = new BetterSqlite(file)
        other.exec("begin immediate")
        // Holds the lock of checkpoints while it waits for that transaction.
        const checkpoint = new Worker(
          `const { parentPort, workerData } = require("node:worker_threads")
          const db = require(workerData.sqlite)(workerData.file)
          parentPort.postMessage("open")
          db.pragma("wal_checkpoint(full)")`,
          { eval: true, workerData: { file, sqlite: new URL(import.meta.resolve("better-sqlite3")).pathname } }
        )
        yield* Effect.promise(() => once(checkpoint, "message"))
        const ended = once(checkpoint, "exit")
        yield* Effect.sleep("300 millis")
        yield* Effect.all(
          [
            emptyLog,
            Effect.promise(async () => {
              await sleep(300)
              other.exec("rollback")
              await ended
            })
          ],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(statSync(`${file}-wal`).size, 0)
        other.close()
      }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file })))
    }).pipe(Effect.scoped)
  )

  // Nobody moves the clock: a second try would never come.
  it.effect("let a reader hold the writer up once where the log is to be empty", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* Effect.gen(function* () {
        const { emptyLog, query } = yield* Database
        yield* query(rows(sql`pragma busy_timeout = 200`))
        const reader = new BetterSqlite(file, { readonly: true })
        reader.exec("begin")
        reader.prepare("select 1 from sqlite_master").get()
        yield* fill(1)
        yield* emptyLog
        reader.close()
        yield* emptyLog
        assert.strictEqual(statSync(`${file}-wal`).size, 0)
      }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file })))
    }).pipe(Effect.scoped)
  )

  it.live("give the room of the log back where a commit finds the disk full", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* fill(10)
        assert.isAbove(statSync(`${file}-wal`).size, 4_000_000)
        const [held] = yield* query(rows<{ page_count: number }>(sql`pragma page_count`))
        yield* query(rows(sql.raw(`pragma max_page_count = ${held!.page_count}`)))
        const insert = query(rows(sql`insert into filling values (randomblob(400000))`))
        const { cause } = yield* Effect.flip(transaction(insert))
        assert.strictEqual((cause as { readonly code?: string }).code, "SQLITE_FULL")
        // Asked behind the copy of the log, on the same thread.
        yield* query(rows(sql`select 1`))
        assert.strictEqual(statSync(`${file}-wal`).size, 0)
      }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file })), Effect.provideService(SqliteMachine, machine))
    }).pipe(Effect.scoped)
  )

  it.live("leave the room of a disk to the file, which the log would take", ({ skip }) =>
    Effect.gen(function* () {
      const { folder, isMounted } = yield* ownDisk("6m")
      if (!isMounted) return skip("needs a disk of its own")
      const file = join(folder, "store.db")
      yield* Effect.gen(function* () {
        const { query } = yield* Database
        yield* fill(8)
        const change = query(rows(sql`update filling set bytes = randomblob(400000) where rowid = 1`))
        yield* Effect.forEach(Array.from({ length: 40 }), () => change, { discard: true })
      }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file })), Effect.provideService(SqliteMachine, machine))
      assert.isAbove(statSync(file).size, 3_000_000)
    }).pipe(Effect.scoped)
  )

  it.live("do not take a disk that does not say how large it is for a full one", ({ skip }) =>
    Effect.gen(function* () {
      const { folder, isMounted } = yield* ownDisk("0")
      if (!isMounted) return skip("needs a disk of its own")
      const file = join(folder, "store.db")
      yield* Effect.gen(function* () {
        yield* fill(3)
        assert.isAbove(statSync(`${file}-wal`).size, 1_000_000)
      }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file })), Effect.provideService(SqliteMachine, machine))
    }).pipe(Effect.scoped)
  )

  it.live("are the writer's own where the process may have no more threads", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      // As Node fails at the limit of threads of a container: before the thread is made, without an event.
      const noThreads = `
        import threads from "node:worker_threads"
        import { syncBuiltinESMExports } from "node:module"
        threads.Worker = class { constructor() { throw new Error("EAGAIN") } }
        syncBuiltinESMExports()`
      const worker = new URL("../../../src/store/database/internal/SqliteThread.worker.ts", import.meta.url)
      const execArgv = ["--import", `data:text/javascript,${encodeURIComponent(noThreads)}`]
      const thread = ((workerData) => new Worker(worker, { workerData, execArgv })) as typeof machine.thread
      yield* Effect.gen(function* () {
        yield* fill(100)
        assert.isBelow(statSync(`${file}-wal`).size, 25_000_000)
      }).pipe(
        Effect.provide(Database.layer({ kind: "sqlite", file })),
        Effect.provideService(SqliteMachine, { ...machine, thread })
      )
    }).pipe(Effect.scoped)
  )
})
