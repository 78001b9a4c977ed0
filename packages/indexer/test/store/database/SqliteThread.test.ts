import { EventEmitter } from "node:events"
import { renameSync, symlinkSync, unlinkSync } from "node:fs"
import { dirname } from "node:path"
import type { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Database, type DatabaseError, type Location } from "@headwater/indexer/store/database/Database"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import { SqliteThreadDialect } from "@headwater/indexer/store/database/internal/SqliteThread"
import { rows } from "@headwater/indexer/store/database/Statements"
import type { Tables } from "@headwater/indexer/store/database/Tables"
import BetterSqlite from "better-sqlite3"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
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
const onStore = <A, E>(
  run: (threads: ReadonlyArray<Worker>, file: string) => Effect.Effect<A, E, Database | Scope.Scope>
) =>
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

  it.live("is not asked what a transaction finds that it has begun, as long as that has changed nothing", () =>
    onStore((threads, file) =>
      Effect.gen(function* () {
        const { defer, insertMany, query, read, selectEach, transaction } = yield* Database
        yield* create("before")
        const thread = threads[0]!
        const { postMessage } = thread
        let messages = 0
        thread.postMessage = (...given: ReadonlyArray<unknown>) => {
          messages++
          Reflect.apply(postMessage, thread, given)
        }
        const looked = Effect.sync(() => messages)
        const byName = (...wanted: ReadonlyArray<string>) =>
          Effect.map(
            selectEach<{ readonly name: string }>(
              { name: "text" },
              wanted.map((name) => ({ name })),
              "select name from account where name = :name"
            ),
            (found) => found.map(({ name }) => name)
          )
        const other = yield* Effect.acquireRelease(
          Effect.sync(() => new BetterSqlite(file, { timeout: 0 })),
          (other) => Effect.sync(() => other.close())
        )
        const changes: Readonly<Record<string, Effect.Effect<unknown, DatabaseError, Database>>> = {
          one: create("one"),
          two: insertMany("account", [{ name: "two", created: 1 }]),
          three: defer((db) => db.insertInto("account").values({ name: "three", created: 1 })),
          four: query((db) => db.insertInto("account").values({ name: "four", created: 1 }).returning("id")),
          five: query(
            rows(sql`with new as (select 'five' as name) insert into account (name, created) select name, 1 from new`)
          )
        }
        const before = ["before"]
        for (const [name, change] of Object.entries(changes)) {
          messages = 0
          yield* transaction(
            Effect.gen(function* () {
              // The first one begins the transaction: from here on nobody else writes.
              assert.deepStrictEqual(yield* names, before)
              assert.strictEqual(yield* looked, 1)
              assert.throws(() => other.exec("begin immediate"), /locked/)
              assert.deepStrictEqual(yield* names, before)
              assert.deepStrictEqual(yield* byName("none", "before"), ["before"])
              assert.strictEqual(yield* looked, 1)
              // A message is cheaper than many selects.
              assert.lengthOf(yield* byName(...Array.from({ length: 100 }, () => "before")), 100)
              assert.strictEqual(yield* looked, 2)
              yield* change
              assert.deepStrictEqual(yield* names, [...before, name])
              assert.deepStrictEqual(yield* byName(name), [name])
            })
          )
          assert.deepStrictEqual(yield* names, [...before, name])
          before.push(name)
        }
        messages = 0
        yield* transaction(
          Effect.gen(function* () {
            yield* names
            yield* Effect.flip(read(rows(sql`select nothing`)))
            assert.strictEqual(yield* looked, 1)
            yield* Effect.flip(query(rows(sql`select nothing`)))
            assert.strictEqual(yield* looked, 2)
            // After an error SQLite may have rolled back.
            yield* names
            assert.strictEqual(yield* looked, 3)
          })
        )
      })
    )
  )

  it.live(
    "is asked nothing by an optimistic transaction before that writes, which is done again where others have written",
    () =>
      onStore((threads, file) =>
        Effect.gen(function* () {
          const { insertMany, optimistic, transaction } = yield* Database
          const other = yield* Effect.acquireRelease(
            Effect.sync(() => new BetterSqlite(file, { timeout: 0 })),
            (other) => Effect.sync(() => other.close())
          )
          const write = (name: string) =>
            Effect.sync(() => other.exec(`insert into account (name, created) values ('${name}', 1)`))
          yield* create("first")
          const thread = threads[0]!
          const { postMessage } = thread
          let messages = 0
          thread.postMessage = (...given: ReadonlyArray<unknown>) => {
            messages++
            Reflect.apply(postMessage, thread, given)
          }
          /** Adds how many accounts there are, and the attempts that this has taken; `between`: what happens behind the look. */
          const counted = (
            between: Effect.Effect<unknown>,
            add: (name: string) => Effect.Effect<unknown, DatabaseError, Database>
          ) =>
            Effect.gen(function* () {
              messages = 0
              let attempts = 0
              const added = yield* optimistic(
                Effect.gen(function* () {
                  attempts++
                  const name = `${(yield* names).length}`
                  assert.strictEqual((yield* names).length, Number(name))
                  if (attempts === 1) yield* between
                  yield* add(name)
                  return name
                })
              )
              return { added, attempts, messages, last: (yield* names).at(-1) }
            })
          const put = (name: string) => insertMany("account", [{ name, created: 1 }])
          assert.deepStrictEqual(yield* counted(Effect.void, put), { added: "1", attempts: 1, messages: 1, last: "1" })
          assert.deepStrictEqual(yield* counted(Effect.void, put), { added: "2", attempts: 1, messages: 1, last: "2" })
          assert.deepStrictEqual(yield* counted(Effect.void, create), {
            added: "3",
            attempts: 1,
            messages: 2,
            last: "3"
          })
          // This process's own transactions are no others'.
          yield* transaction(create("4"))
          yield* Effect.exit(transaction(Effect.andThen(create("never"), Effect.die("undone"))))
          assert.deepStrictEqual(yield* counted(Effect.void, put), { added: "5", attempts: 1, messages: 1, last: "5" })
          assert.deepStrictEqual(yield* counted(write("6"), put), { added: "7", attempts: 2, messages: 4, last: "7" })
          assert.deepStrictEqual(yield* counted(write("8"), create), {
            added: "9",
            attempts: 2,
            messages: 5,
            last: "9"
          })
          // Whoever passes over the failure writes nothing all the same.
          const passedOver = Effect.gen(function* () {
            yield* names
            yield* write("10")
            yield* Effect.ignore(create("lost"))
            yield* create("lost")
          })
          assert.include((yield* Effect.flip(optimistic(passedOver))).message, "rolled the transaction back")
          // One that writes nothing is no message.
          messages = 0
          assert.lengthOf(yield* optimistic(names), 11)
          assert.strictEqual(messages, 0)
          yield* transaction(create("11"))
          assert.deepStrictEqual((yield* names).slice(-2), ["10", "11"])
        })
      )
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
