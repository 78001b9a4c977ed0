import { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { ServerSilence, ServerSockets } from "@headwater/indexer/store/database/internal/PostgresServer"
import * as Statements from "@headwater/indexer/store/database/Statements"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { sql } from "kysely"
import { locations, takenStores } from "../../../../../test/Stores.ts"

for (const store of takenStores(import.meta.url)) {
  describe(`Signals on ${store.name}`, () => {
    it.live("come behind the commit, once for a transaction, and not at all where that fails", () =>
      Effect.gen(function* () {
        const { exclusive, signals, transaction } = yield* Database
        // Of what was told before anybody listened.
        if (!exclusive) yield* Effect.flatten(signals.next("callbacks"))
        const before = signals.count("callbacks")
        const inside = yield* transaction(
          Effect.gen(function* () {
            yield* signals.send("callbacks")
            yield* transaction(signals.send("callbacks"))
            return signals.count("callbacks")
          })
        )
        assert.strictEqual(inside, before)
        assert.strictEqual(signals.count("callbacks"), before + 1)
        const failed = yield* Effect.exit(transaction(Effect.andThen(signals.send("callbacks"), Effect.fail("no"))))
        assert.isTrue(Exit.isFailure(failed))
        assert.strictEqual(signals.count("callbacks"), before + 1)
        yield* signals.send("callbacks")
        assert.strictEqual(signals.count("callbacks"), before + 2)
      }).pipe(Effect.provide(store.layer))
    )

    it.live("hand over what commits have made due, until anything may be due beside", () =>
      Effect.gen(function* () {
        const { exclusive, signals, transaction } = yield* Database
        if (!exclusive) yield* Effect.flatten(signals.next("callbacks"))
        const due = (subscription: number) => ({ host: "a.test", account: 1, subscription })
        assert.isUndefined(yield* signals.takeDue, "whatever was due before this process")
        const before = signals.count("callbacks")
        yield* transaction(Effect.andThen(signals.sendDue([due(1), due(2)]), signals.sendDue([due(2), due(3)])))
        assert.isAbove(signals.count("callbacks"), before)
        yield* Effect.exit(transaction(Effect.andThen(signals.sendDue([due(4)]), Effect.fail("no"))))
        assert.deepStrictEqual(yield* signals.takeDue, [due(1), due(2), due(3)])
        assert.deepStrictEqual(yield* signals.takeDue, [])
        yield* signals.sendDue([due(5)])
        yield* signals.send("callbacks")
        yield* signals.sendDue([due(6)])
        assert.isUndefined(yield* signals.takeDue)
        yield* signals.sendDue(Array.from({ length: 5_000 }, (_, i) => due(i)))
        assert.isUndefined(yield* signals.takeDue, "more than is noted")
        assert.deepStrictEqual(yield* signals.takeDue, [])
      }).pipe(Effect.provide(store.layer))
    )
  })
}

/** As another process has the store. */
const open = (location: Location) => Effect.map(Layer.build(Database.layer(location)), Context.get(Database))

const listeners = Effect.fnUntraced(function* ({ read }: Database["Service"]) {
  const found = yield* read(
    Statements.rows(sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %'`)
  )
  return found.map(({ pid }) => pid)
})

/** Of a connection that hears no notifications (`A`), each of which comes by itself. */
class Deaf extends Socket {
  override emit(event: string, ...parameters: ReadonlyArray<unknown>): boolean {
    const [chunk] = parameters
    return (event === "data" && Buffer.isBuffer(chunk) && chunk[0] === 0x41) || super.emit(event, ...parameters)
  }
}

const postgres = locations.find(({ name }) => name === "postgres")

describe.skipIf(postgres === undefined)("Signals of several processes on one PostgreSQL", () => {
  it.live("reach those that wait, whichever process sends, also after their connection was ended", () =>
    Effect.gen(function* () {
      const location = yield* postgres!.location
      const one = yield* open(location)
      const two = yield* open(location)
      // The first wait makes the connection, behind which everybody is woken.
      yield* Effect.flatten(one.signals.next("undone"))
      assert.lengthOf(yield* listeners(two), 1)
      const hears = Effect.gen(function* () {
        const woken = yield* one.signals.next("undone")
        const waiting = yield* Effect.forkChild(woken)
        const others = one.signals.count("callbacks")
        yield* two.transaction(two.signals.send("undone"))
        yield* Fiber.join(waiting)
        assert.strictEqual(one.signals.count("callbacks"), others)
      })
      yield* hears
      // The own notification, which comes back, wakes nobody a second time.
      const before = one.signals.count("callbacks")
      yield* one.signals.send("callbacks")
      yield* hears
      assert.strictEqual(one.signals.count("callbacks"), before + 1)

      const woken = yield* one.signals.next("callbacks")
      const [pid] = yield* listeners(two)
      yield* two.read(Statements.rows(sql`select pg_terminate_backend(${pid})`))
      // What is told while nobody listens is made up for by one signal of each kind.
      yield* woken
      assert.notStrictEqual((yield* listeners(two))[0], pid)
      yield* hears
    }).pipe(Effect.scoped)
  )

  it.live("are warned of where a pool gives the server that listens to somebody else", () =>
    Effect.gen(function* () {
      const location = yield* postgres!.location
      const warned = yield* Deferred.make<string>()
      const logger = Logger.map(Logger.formatSimple, (line) => void Deferred.doneUnsafe(warned, Exit.succeed(line)))
      const { signals } = yield* open(location).pipe(
        Effect.provideService(ServerSockets, () => new Deaf()),
        Effect.provideService(ServerSilence, 500),
        Effect.provide(Logger.layer([logger]))
      )
      yield* Effect.flatten(signals.next("undone"))
      assert.include(yield* Deferred.await(warned), "a pool by transaction (PgBouncer) stands between")
    }).pipe(Effect.scoped)
  )

  it.live("are warned of by nothing where all of the store's connections are busy", () =>
    Effect.gen(function* () {
      const location = { ...(yield* postgres!.location), connections: 1 }
      const warned: Array<string> = []
      const logger = Logger.map(Logger.formatSimple, (line) => void warned.push(line))
      const { query, signals, transaction } = yield* open(location).pipe(
        Effect.provideService(ServerSilence, 500),
        Effect.provide(Logger.layer([logger]))
      )
      const shortly = query(Statements.rows(sql`select pg_sleep(0.1)`))
      const began = yield* Deferred.make<void>()
      const busy = yield* Effect.forkChild(
        transaction(Effect.andThen(Deferred.succeed(began, undefined), Effect.repeat(shortly, { times: 14 })))
      )
      yield* Deferred.await(began)
      yield* Effect.flatten(signals.next("undone"))
      yield* Fiber.join(busy)
      assert.deepStrictEqual(warned, [])
    }).pipe(Effect.scoped)
  )

  it.live("are not listened to by a program that waits for none", () =>
    Effect.gen(function* () {
      const location = yield* postgres!.location
      const one = yield* open(location)
      yield* one.transaction(one.signals.send("callbacks"))
      assert.lengthOf(yield* listeners(yield* open(location)), 0)
    }).pipe(Effect.scoped)
  )
})
