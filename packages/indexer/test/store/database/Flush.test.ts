import { copyFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import * as WalFlush from "@headwater/indexer/store/database/internal/WalFlush"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Folder from "../../../../../test/Folder.ts"
import { unmigrated } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"

const sqlite = unmigrated[0]!.location

describe.skipIf(!isInTurn(import.meta.url))("A flush of a SQLite store", () => {
  it.live("finds every commit in the file and its log", () =>
    Effect.gen(function* () {
      const location = (yield* sqlite) as Location & { readonly file: string }
      const folder = yield* Folder.scoped
      const copy = join(folder, "store.db")
      yield* Effect.gen(function* () {
        const { flush } = yield* Database
        const { create } = yield* Accounts
        const names = Array.from({ length: 50 }, (_, i) => `account ${i}`)
        yield* Effect.forEach(names, (name) => Effect.andThen(create(name), flush), { concurrency: "unbounded" })
        for (const end of ["", "-wal"]) copyFileSync(`${location.file}${end}`, `${copy}${end}`)
      }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provideMerge(Database.layer(location)))))
      const restored = Database.layer({ kind: "sqlite", file: copy })
      const accounts = yield* Effect.flatMap(Accounts, ({ list }) => list).pipe(
        Effect.provide(Accounts.layer.pipe(Layer.provide(restored)))
      )
      assert.lengthOf(accounts, 50)
    }).pipe(Effect.scoped)
  )

  it.live("is shared by those that ask at once, and covers whatever was committed before each asked", () =>
    Effect.gen(function* () {
      let begun = 0
      const flush = WalFlush.make(
        Effect.suspend(() => {
          begun++
          return Effect.sleep("20 millis")
        })
      )
      const first = yield* Effect.forkChild(flush)
      yield* Effect.sleep("5 millis")
      yield* Effect.all(
        Array.from({ length: 100 }, () => flush),
        { concurrency: "unbounded" }
      )
      yield* Fiber.join(first)
      // Those that came while the first was under way had to wait for another one.
      assert.strictEqual(begun, 2)
    })
  )

  it.live("leaves the disk alone where the settings ask for that, and fails where the log is not there", () =>
    Effect.gen(function* () {
      const { file } = (yield* sqlite) as { readonly file: string }
      const flush = Effect.flatMap(Database, ({ flush }) => flush)
      const withoutLog = Effect.andThen(
        Effect.sync(() => rmSync(`${file}-wal`)),
        flush
      )
      const machine = yield* SqliteMachine
      const broken = { ...machine, flush: () => Effect.succeed(Effect.die("The disk was asked for")) }
      const on = (location: Location, run: typeof flush) => Effect.exit(Effect.provide(run, Database.layer(location)))
      const normal = { kind: "sqlite", file, synchronous: "normal" } as const
      assert.isTrue(Exit.isSuccess(yield* Effect.provideService(on(normal, flush), SqliteMachine, broken)))
      assert.isTrue(Exit.isFailure(yield* on(normal, withoutLog)))
      assert.isTrue(Exit.isFailure(yield* on({ kind: "sqlite", file }, withoutLog)))
    }).pipe(Effect.scoped)
  )

  it.live("fails while the file is not at its name, so that nobody is told of what is lost", () =>
    Effect.gen(function* () {
      const location = (yield* sqlite) as Location & { readonly file: string }
      yield* Effect.gen(function* () {
        const { flush } = yield* Database
        const works = Effect.andThen(StoreHealth.works, flush)
        yield* works
        renameSync(location.file, `${location.file}.moved`)
        assert.match((yield* Effect.flip(flush)).message, /store\.db is not the file that this process has open/)
        yield* Effect.flip(StoreHealth.works)
        writeFileSync(location.file, "another file")
        yield* Effect.flip(flush)
        renameSync(`${location.file}.moved`, location.file)
        yield* works
      }).pipe(Effect.provide(Database.layer(location)))
    }).pipe(Effect.scoped)
  )

  it.live(
    "says what is to be done: with a file that was moved or replaced, also while the store was opened, and with a log",
    () =>
      Effect.gen(function* () {
        const { file } = (yield* sqlite) as { readonly file: string }
        const machine = yield* SqliteMachine
        const messageAfter = (change: () => void, isOpen: boolean) =>
          Effect.gen(function* () {
            const { flush } = yield* Database
            if (isOpen) yield* Effect.andThen(flush, Effect.sync(change))
            return (yield* Effect.flip(flush)).message
          }).pipe(
            Effect.provide(Database.layer({ kind: "sqlite", file })),
            Effect.provideService(SqliteMachine, {
              ...machine,
              thread: (options) => {
                const thread = machine.thread(options)
                let answers = 0
                thread.on("message", () => answers++ === 0 && !isOpen && change())
                return thread
              }
            })
          )
        const replace = () => {
          copyFileSync(file, `${file}.other`)
          renameSync(file, `${file}.own`)
          renameSync(`${file}.other`, file)
        }
        const ofFile = /db is not the file .* Put the file back, .* remove .*db-wal and start again$/
        for (const isOpen of [true, false]) {
          assert.match(yield* messageAfter(replace, isOpen), ofFile)
          renameSync(`${file}.own`, file)
        }
        const ofLog = yield* messageAfter(() => rmSync(`${file}-wal`), true)
        assert.match(ofLog, /db-wal is not the file .* Stop this process by SIGTERM/)
      }).pipe(Effect.scoped)
  )

  it.live("finds the log of a file that is named by a link", () =>
    Effect.gen(function* () {
      const location = (yield* sqlite) as Extract<Location, { kind: "sqlite" }>
      const link = `${location.file}.link`
      symlinkSync(location.file, link)
      yield* Effect.gen(function* () {
        const { flush } = yield* Database
        yield* (yield* Accounts).create("acme")
        yield* flush
        assert.isAbove(yield* StoreHealth.size({ ...location, file: link }), statSync(location.file).size)
        rmSync(link)
        symlinkSync(link, link)
        assert.match((yield* Effect.flip(flush)).message, /^ELOOP/, "what cannot be looked at is an error of the store")
      }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provideMerge(Database.layer({ ...location, file: link })))))
    }).pipe(Effect.scoped)
  )
})
