import { EventEmitter } from "node:events"
import { renameSync, symlinkSync, unlinkSync } from "node:fs"
import { dirname } from "node:path"
import type { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import { SqliteThreadDialect } from "@headwater/indexer/store/database/internal/SqliteThread"
import type { Tables } from "@headwater/indexer/store/database/Tables"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { Kysely, sql } from "kysely"
import { unmigrated } from "../../../../../test/Stores.ts"

const create = (name: string) =>
  Effect.flatMap(Database, ({ query }) => query((db) => db.insertInto("account").values({ name, created: 1 })))

const names = Effect.flatMap(Database, ({ read }) =>
  Effect.map(
    read((db) => db.selectFrom("account").select("name").orderBy("id")),
    (rows) => rows.map(({ name }) => name)
  )
)

/** Runs on a new store whose threads are given. */
const onStore = <A, E>(run: (threads: ReadonlyArray<Worker>, file: string) => Effect.Effect<A, E, Database>) =>
  Effect.gen(function* () {
    const store = (yield* unmigrated[0]!.location as Effect.Effect<Location>) as Extract<Location, { kind: "sqlite" }>
    const machine = yield* SqliteMachine
    const threads: Array<Worker> = []
    const thread: typeof machine.thread = (options) => {
      const made = machine.thread(options)
      threads.push(made as unknown as Worker)
      return made
    }
    return yield* run(threads, store.file).pipe(
      Effect.provide(Database.layer(store)),
      Effect.provideService(SqliteMachine, { ...machine, thread })
    )
  }).pipe(Effect.scoped)

describe("The thread that writes a SQLite file", () => {
  it.live("is followed by another one where it ends, and takes along what it had not committed", () =>
    onStore((threads) =>
      Effect.gen(function* () {
        const { flush, transaction } = yield* Database
        yield* create("before")
        yield* flush
        const lost = Effect.gen(function* () {
          yield* create("lost")
          yield* Effect.promise(() => threads[0]!.terminate())
          yield* create("never")
        })
        assert.strictEqual((yield* Effect.flip(transaction(lost))).message, "The SQLite thread has stopped")
        yield* create("after")
        yield* transaction(create("in a transaction"))
        // The log is the same one.
        yield* flush
        assert.deepStrictEqual(yield* names, ["before", "after", "in a transaction"])
        assert.lengthOf(threads, 2)
      })
    )
  )

  it.live("is sent nothing of a fiber that has outlived its transaction, whichever one is open by then", () =>
    onStore(() =>
      Effect.gen(function* () {
        const { defer, transaction } = yield* Database
        const ended = yield* Deferred.make<void>()
        const late = Effect.andThen(
          Deferred.await(ended),
          defer((db) => db.insertInto("account").values({ name: "late", created: 1 }))
        )
        const fiber = yield* transaction(Effect.tap(Effect.forkDetach(late), create("in time")))
        const other = Effect.gen(function* () {
          yield* create("next")
          yield* Deferred.succeed(ended, undefined)
          return yield* Fiber.await(fiber)
        })
        assert.isTrue(Exit.isFailure(yield* transaction(other)))
        assert.deepStrictEqual(yield* names, ["in time", "next"])
      })
    )
  )

  it.live("says why no other one takes its place", () =>
    onStore((threads, file) =>
      Effect.gen(function* () {
        yield* create("before")
        yield* Effect.sync(() => renameSync(file, `${file}.away`))
        yield* Effect.promise(() => threads[0]!.terminate())
        for (const name of ["one", "two"]) {
          assert.include((yield* Effect.flip(create(name))).message, "is not the file that this process has opened")
        }
        yield* Effect.sync(() => renameSync(`${file}.away`, file))
        yield* create("after")
        assert.deepStrictEqual(yield* names, ["before", "after"])
      })
    )
  )

  it.live("is followed by none for a statement that waits while the store is closed", () =>
    Effect.gen(function* () {
      const store = (yield* unmigrated[0]!.location as Effect.Effect<Location>) as Extract<Location, { kind: "sqlite" }>
      const machine = yield* SqliteMachine
      let threads = 0
      const thread = () => {
        threads++
        return machine.thread({ file: store.file })
      }
      const db = new Kysely<Tables>({ dialect: new SqliteThreadDialect(thread) })
      yield* Effect.promise(async () => {
        const transaction = await db.startTransaction().execute()
        await sql`select 1`.execute(transaction)
        const late = sql`select 1`.execute(db).catch(String)
        await db.destroy()
        const ended = "Error: The SQLite thread has stopped"
        assert.deepStrictEqual([await transaction.rollback().execute().catch(String), await late], [ended, ended])
      })
      assert.strictEqual(threads, 1)
    }).pipe(Effect.scoped)
  )

  it.live("may have its last answer come behind its end", () =>
    Effect.gen(function* () {
      const thread = new EventEmitter()
      const answers = {
        ...{ ref: () => {}, unref: () => {}, terminate: () => Promise.resolve() },
        on: thread.on.bind(thread),
        postMessage: ({ id }: { readonly id: number }) => {
          thread.emit("error", new Error("ended"))
          thread.emit("message", { id, result: { rows: [] } })
        }
      }
      const db = new Kysely<Tables>({ dialect: new SqliteThreadDialect(() => answers as never) })
      const answered = yield* Effect.flip(Effect.tryPromise(() => sql`select 1`.execute(db)))
      assert.strictEqual((answered.cause as Error).message, "ended")
    })
  )

  it.live("goes on once the folder of the file is there again", () =>
    onStore((_, file) =>
      Effect.gen(function* () {
        const folder = dirname(file)
        yield* create("before")
        // Nobody may look into such a folder, as into one whose rights are wrong.
        yield* Effect.sync(() => {
          renameSync(folder, `${folder}.away`)
          symlinkSync(folder, folder)
        })
        for (const name of ["one", "two"]) yield* Effect.exit(create(name))
        yield* Effect.sync(() => {
          unlinkSync(folder)
          renameSync(`${folder}.away`, folder)
        })
        yield* create("after")
        assert.include(yield* names, "after")
      })
    )
  )
})
