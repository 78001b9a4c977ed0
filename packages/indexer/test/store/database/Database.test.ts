import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { inspect } from "node:util"
import { assert, describe, it, layer } from "@effect/vitest"
import {
  Database,
  DatabaseError,
  type Location,
  ServerSilence,
  TransactionSilence,
  WaitForServer
} from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { sql } from "kysely"
import pg from "pg"
import { freePort } from "../../../../../test/FreePort.ts"
import * as PostgresServer from "../../../../../test/PostgresServer.ts"
import { unmigrated, stores, takenStores } from "../../../../../test/Stores.ts"
import * as Released from "./Released.ts"

describe("a SQLite file", () => {
  it.live("is for its owner alone, with all that lies beside it, unless an operator has opened it to others", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
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

  it.live("may have any name to which those of the files beside it can be made", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const store = (yield* location) as { readonly kind: "sqlite"; readonly file: string }
      // 255 bytes are a name's most on Linux and macOS.
      const file = join(dirname(store.file), "a".repeat(255 - "-journal".length))
      yield* Effect.scoped(Layer.build(Database.layer({ ...store, file })))
    }).pipe(Effect.scoped)
  )

  it.effect("writes no rest of a transaction that SQLite has rolled back after an error that was passed over", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const stored = query(rows(sql<{ readonly id: string }>`select id from own`))
      yield* query(rows(sql`create table own (id text primary key)`))
      yield* query(rows(sql`insert into own values ('one')`))
      const writing = Effect.gen(function* () {
        yield* query(rows(sql`insert into own values ('two')`))
        // As SQLite does by itself where the disk is full.
        yield* Effect.ignore(query(rows(sql`insert or rollback into own values ('one')`)))
        yield* query(rows(sql`insert into own values ('three')`))
      })
      assert.strictEqual((yield* Effect.flip(transaction(writing)))._tag, "DatabaseError")
      assert.deepStrictEqual(yield* stored, [{ id: "one" }])
      yield* transaction(query(rows(sql`insert into own values ('four')`)))
      assert.strictEqual((yield* stored).length, 2)
    }).pipe(Effect.provide(stores[0]!.layer))
  )

  it.live("lets everything else have its turn between reads that wait for nothing", () =>
    Effect.gen(function* () {
      const { read } = yield* Database
      let turns = 0
      const count = () => {
        turns++
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      // Some tens of milliseconds each.
      const counted = rows(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
        select count(*) from n`)
      for (let i = 0; i < 10; i++) yield* read(counted)
      clearImmediate(next)
      assert.isAtLeast(turns, 5)
    }).pipe(Effect.provide(stores[0]!.layer))
  )

  it.live("has a log that begins anew, and as much of it is kept in memory as is wanted", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const store = (yield* location) as { readonly kind: "sqlite"; readonly file: string }
      yield* Effect.gen(function* () {
        const { query, read } = yield* Database
        yield* query(rows(sql`create table filled (content blob)`))
        const size = () => statSync(`${store.file}-wal`).size
        let written = 0
        // Until a copy of the log has ended the log grows: for longer on a machine that is busy.
        while (written < 300_000_000 || (size() > written / 2 && written < 2_000_000_000)) {
          yield* query(rows(sql`insert into filled values (zeroblob(1000000))`))
          written += 1_000_000
        }
        assert.isBelow(size(), written / 2)
        const sizes = rows(sql<{ cache_size: number }>`pragma cache_size`)
        assert.deepStrictEqual(
          [yield* query(sizes), yield* read(sizes)].map(([row]) => row!.cache_size),
          [-3072, -3072]
        )
      }).pipe(Effect.provide(Database.layer({ ...store, cacheMegabytes: 3 })))
    }).pipe(Effect.scoped)
  )
})

for (const store of takenStores(import.meta.url)) {
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
        const before = yield* names
        yield* transaction(insert("a"))
        yield* Effect.flip(transaction(Effect.andThen(insert("b"), Effect.fail("no"))))
        assert.deepStrictEqual(yield* names, [...before, "a"])
        yield* Effect.flip(transaction(Effect.andThen(transaction(insert("c")), Effect.fail("no"))))
        assert.deepStrictEqual(yield* names, [...before, "a"])
        yield* transaction(
          Effect.gen(function* () {
            yield* insert("d")
            assert.deepStrictEqual(yield* names, [...before, "a", "d"])
          })
        )
        assert.deepStrictEqual(yield* names, [...before, "a", "d"])
      })
    )

    it.effect("rolls back when interrupted", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const before = yield* names
        const inserted = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          transaction(
            insert("e").pipe(Effect.andThen(Deferred.succeed(inserted, undefined)), Effect.andThen(Effect.never))
          )
        )
        yield* Deferred.await(inserted)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* names, before)
      })
    )

    it.effect("tells a duplicate from other failures, without the values of the row", () =>
      Effect.gen(function* () {
        yield* insert("nobody's business")
        const duplicate = yield* Effect.flip(insert("nobody's business"))
        assert.isTrue(duplicate.duplicate)
        assert.notInclude(inspect(duplicate, { depth: Number.POSITIVE_INFINITY }), "nobody's business")
        yield* Effect.flatMap(Database, ({ query }) =>
          query((db) => db.deleteFrom("account").where("name", "=", "nobody's business"))
        )
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
        yield* insert("once")
        const before = yield* names
        const twice = insertMany("account", [{ name: "once", created: 1 }])
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

/** What is logged, as text, and the logger that keeps it. */
const collected = () => {
  const lines: Array<string> = []
  return { lines, logger: Logger.layer([Logger.map(Logger.formatSimple, (line) => void lines.push(line))]) }
}

/** Passes connections on to the run's PostgreSQL server, from a port at which nobody has listened before. */
const forward = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly server: Server
      /** From now on nothing passes on these connections, which stay open, as where a cable is pulled. */
      readonly cut: () => void
    }>((resume) => {
      const { hostname, port: to } = new URL(process.env.DATABASE_URL!)
      const pairs: Array<readonly [Socket, Socket]> = []
      const server = createServer((socket) => {
        const upstream = connect(Number(to), hostname)
        socket.pipe(upstream)
        upstream.pipe(socket)
        pairs.push([socket, upstream])
        for (const end of [socket, upstream]) end.on("error", () => {})
      })
      const cut = () => {
        for (const [socket, upstream] of pairs.splice(0)) {
          socket.unpipe(upstream).pause()
          upstream.unpipe(socket).pause()
        }
      }
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed({ server, cut })))
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

/** A pool at a port that answers every client as PgBouncer does of itself, until the scope closes. */
const refusing = (port: number, message: string) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`)
      const length = Buffer.alloc(4)
      length.writeInt32BE(4 + fields.length)
      const answer = Buffer.concat([Buffer.from("E"), length, fields])
      const server = createServer((socket) => {
        socket.on("error", () => {}).once("data", () => socket.end(answer))
      })
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

for (const { location } of unmigrated.filter(({ name }) => name === "postgres")) {
  describe("a PostgreSQL server that cannot be used", () => {
    /** A database beside the place's own, whose encoding lacks characters; its name. */
    const latinDatabase = Effect.fnUntraced(function* (place: Location) {
      const name = `latin_${Math.floor(Math.random() * 2 ** 31)}`
      yield* Effect.acquireRelease(
        Released.execute(place, `create database ${name} encoding 'LATIN1' locale 'C' template template0`),
        () => Released.execute(place, `drop database ${name}`)
      )
      return name
    })

    const open = (place: Location, change: (url: URL) => void) => {
      const url = new URL(Redacted.value((place as Extract<Location, { kind: "postgres" }>).url))
      change(url)
      return Effect.flatMap(Database, ({ read }) => read((db) => db.selectFrom("account").selectAll())).pipe(
        Effect.provide(Database.layer({ kind: "postgres", url: Redacted.make(url.href), connections: 2 }))
      )
    }

    it.live("is waited for where it is not up yet, by those who may wait", () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const { lines, logger } = collected()
        const opened = open(yield* location, (url) => {
          url.port = String(port)
        }).pipe(Effect.provide(logger))
        assert.include((yield* Effect.flip(opened)).message, "ECONNREFUSED")
        assert.deepStrictEqual(lines, [])
        const waiting = yield* Effect.forkChild(Effect.provideService(opened, WaitForServer, true))
        yield* Effect.sleep("1200 millis")
        yield* forward(port)
        assert.deepStrictEqual(yield* Fiber.join(waiting), [])
        assert.lengthOf(lines, 1)
        assert.match(lines[0]!, /Waiting for PostgreSQL.*ECONNREFUSED/)
      }).pipe(Effect.scoped)
    )

    it.live("is waited for behind a pool that says so, and not where the pool knows no such database", () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const { lines, logger } = collected()
        const opened = open(yield* location, (url) => {
          url.port = String(port)
        }).pipe(Effect.provide(logger), Effect.provideService(WaitForServer, true))
        const unknown = yield* Effect.flip(Effect.scoped(Effect.andThen(refusing(port, "no such database: x"), opened)))
        assert.include(unknown.message, "no such database")
        assert.deepStrictEqual(lines, [])
        // As PgBouncer 1.18 answered while its server was away.
        const away = "server login has been failing, try again later (server_login_retry)"
        const waiting = yield* refusing(port, away).pipe(
          Effect.andThen(Effect.forkChild(opened)),
          Effect.tap(() => Effect.sleep("1200 millis")),
          Effect.scoped
        )
        yield* forward(port)
        assert.deepStrictEqual(yield* Fiber.join(waiting), [])
        assert.match(lines.join(), /Waiting for PostgreSQL.*server_login_retry/)
      }).pipe(Effect.scoped)
    )

    it.live("counts as away where its answer does not come in time", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const client = new pg.Client({ connectionString: Redacted.value(place.url), query_timeout: 50 })
        yield* Effect.promise(() => client.connect())
        yield* Effect.addFinalizer(() => Effect.promise(() => client.end()))
        const failure = yield* Effect.flip(
          Effect.tryPromise({
            try: () => client.query("select pg_sleep(1)"),
            catch: (cause) => new DatabaseError({ cause })
          })
        )
        assert.isTrue(failure.unavailable, failure.message)
      }).pipe(Effect.scoped)
    )

    it.live("has the store's own sessions, whatever it has set for those of a role or a database", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const database = new URL(Redacted.value(place.url)).pathname.slice(1)
        for (const setting of [
          ...["statement_timeout = 700", "lock_timeout = 700", "idle_in_transaction_session_timeout = 700"],
          ...["default_transaction_isolation = serializable"]
        ]) {
          yield* Released.execute(place, `alter database ${database} set ${setting}`)
        }
        yield* Effect.gen(function* () {
          const { query, transaction } = yield* Database
          // A transaction reads what another one has committed since, once it has waited.
          const add = transaction(
            query(rows(sql`select pg_sleep(0.8)`)).pipe(
              Effect.andThen(query(rows(sql`update store_format set id = id where id = 1`)))
            )
          )
          yield* Effect.all([add, add, add, add], { concurrency: "unbounded" })
        }).pipe(Effect.provide(Database.layer(place)))
      }).pipe(Effect.scoped)
    )

    it.live("is given no store in an encoding that lacks characters of a token's name", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const name = yield* latinDatabase(place)
        const opened = open(place, (url) => {
          url.pathname = name
        })
        assert.include((yield* Effect.flip(opened)).message, "encoding LATIN1")
      }).pipe(Effect.scoped)
    )

    it.live("goes on in such an encoding where the store is there already, and says so", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const name = yield* latinDatabase(place)
        const url = new URL(Redacted.value(place.url))
        url.pathname = name
        const latin: Location = { ...place, url: Redacted.make(url.href) }
        const encodingAt = (location: Location) =>
          StoreHealth.inspect(location).pipe(
            Effect.provide(Database.layer(location)),
            Effect.map(({ server }) => server?.incompleteEncoding)
          )
        yield* Released.load("0.1", latin)
        assert.strictEqual(yield* encodingAt(latin), "LATIN1")
        assert.isUndefined(yield* encodingAt(place))
      }).pipe(Effect.scoped)
    )

    it.live("is waited for where it ends connections in the midst of a migration", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        yield* Released.load("0.1", place)
        const ask = (statement: string) =>
          Effect.promise(() => PostgresServer.ask(Redacted.value(place.url), statement))
        const held = new pg.Client({ connectionString: Redacted.value(place.url) })
        yield* Effect.promise(() => held.connect())
        yield* Effect.addFinalizer(() => Effect.promise(() => held.end()))
        yield* Effect.promise(() => held.query("begin; lock table callback"))
        const opened = yield* Effect.succeed("opened").pipe(
          Effect.provide(Database.layer(place)),
          Effect.provideService(WaitForServer, true),
          Effect.forkChild
        )
        const ended = yield* ask(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`
        ).pipe(Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") }))
        assert.lengthOf(ended, 1)
        yield* Effect.promise(() => held.query("rollback"))
        assert.strictEqual(yield* Fiber.join(opened), "opened")
      }).pipe(Effect.scoped)
    )

    it.live("ends a connection while a file of the URL is away, and who waits for the next one hears of that", () =>
      Effect.gen(function* () {
        const folder = mkdtempSync(join(tmpdir(), "headwater-tls-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
        const file = join(folder, "ca.pem")
        writeFileSync(file, "")
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const url = new URL(Redacted.value(place.url))
        url.search = `sslmode=disable&sslrootcert=${file}`
        const named: Location = { ...place, url: Redacted.make(url.href), connections: 1 }
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          const one = query(rows(sql`select 1 as one`))
          yield* one
          const ended = query(rows(sql`select pg_terminate_backend(pg_backend_pid()) from pg_sleep(0.2)`))
          const ending = yield* Effect.forkChild(Effect.flip(ended), { startImmediately: true })
          const waiting = yield* Effect.forkChild(Effect.flip(one), { startImmediately: true })
          rmSync(file)
          yield* Fiber.join(ending)
          const error = yield* Fiber.join(waiting)
          assert.isTrue(error.unavailable)
          assert.include(error.message, file)
          writeFileSync(file, "")
          assert.deepStrictEqual(yield* one, [{ one: 1 }])
        }).pipe(Effect.provide(Database.layer(named)))
      }).pipe(Effect.scoped)
    )

    it.live("is noticed where it vanishes and leaves its connections open", () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const { cut } = yield* forward(port)
        const { url } = (yield* location) as Extract<Location, { kind: "postgres" }>
        const through = new URL(Redacted.value(url))
        through.port = String(port)
        const place: Location = { kind: "postgres", url: Redacted.make(through.href), connections: 2 }
        yield* Effect.gen(function* () {
          const { query, transaction } = yield* Database
          const insert = (name: string) => query((db) => db.insertInto("account").values({ name, created: 1 }))
          yield* insert("before")
          const failure = yield* Effect.flip(
            transaction(Effect.andThen(insert("during"), Effect.andThen(Effect.sync(cut), insert("too"))))
          )
          assert.instanceOf(failure, DatabaseError)
          assert.match(failure.message, /^PostgreSQL has not answered for 0\.5 s$/)
          assert.isTrue(failure.unavailable && failure.storeFailed)
          // New connections are let through.
          yield* insert("after")
          const names = yield* query((db) => db.selectFrom("account").select("name").orderBy("id"))
          assert.deepStrictEqual(
            names.map(({ name }) => name),
            ["before", "after"]
          )
        }).pipe(Effect.provide(Database.layer(place)), Effect.provideService(ServerSilence, 500))
      }).pipe(Effect.scoped)
    )

    it.live("keeps no lock of a process that is held up in a transaction", () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const { cut } = yield* forward(port)
        const place = (yield* location) as Extract<Location, { kind: "postgres" }>
        const through = new URL(Redacted.value(place.url))
        through.port = String(port)
        const heldUp = yield* Layer.build(Database.layer({ ...place, url: Redacted.make(through.href) })).pipe(
          Effect.provideService(TransactionSilence, 500),
          Effect.provideService(ServerSilence, 2_000)
        )
        const other = yield* Layer.build(Database.layer(place))
        const lock = Effect.flatMap(Database, ({ query }) =>
          query((db) => db.updateTable("store_format").set({ id: 1 }).where("id", "=", 1))
        )
        const locked = Deferred.makeUnsafe<void>()
        yield* Effect.flatMap(Database, ({ transaction }) =>
          transaction(
            lock.pipe(
              Effect.andThen(Effect.sync(cut)),
              Effect.andThen(Deferred.succeed(locked, undefined)),
              Effect.andThen(Effect.never)
            )
          )
        ).pipe(Effect.provideContext(heldUp), Effect.forkScoped)
        yield* Deferred.await(locked)
        yield* Effect.provideContext(lock, other)
      }).pipe(Effect.scoped)
    )

    it.live("ends a transaction that stands still once that is asked for, and somebody waits for its locks", () =>
      Effect.gen(function* () {
        const place = (yield* location) as Location
        const [stopped, waiting, asking] = yield* Effect.forEach([0, 1, 2], () => Layer.build(Database.layer(place)))
        const end = (silentMillis: number) =>
          Effect.flatMap(Database, ({ endSilentHolders }) => endSilentHolders(silentMillis)).pipe(
            Effect.provideContext(asking!)
          )
        const lock = Effect.flatMap(Database, ({ query }) =>
          query((db) => db.updateTable("store_format").set({ id: 1 }).where("id", "=", 1))
        )
        const locked = Deferred.makeUnsafe<void>()
        const goOn = Deferred.makeUnsafe<void>()
        const held = yield* Effect.flatMap(Database, ({ transaction }) =>
          transaction(
            lock.pipe(
              Effect.andThen(Deferred.succeed(locked, undefined)),
              Effect.andThen(Deferred.await(goOn)),
              Effect.andThen(lock)
            )
          )
        ).pipe(Effect.provideContext(stopped!), Effect.exit, Effect.forkScoped)
        yield* Deferred.await(locked)
        assert.strictEqual(yield* end(0), 0, "nobody waits")
        const other = yield* Effect.forkScoped(Effect.provideContext(lock, waiting!))
        assert.strictEqual(yield* end(3_600_000), 0, "it may go on")
        yield* Effect.repeat(Effect.delay(end(0), "20 millis"), { until: (ended) => ended === 1 })
        yield* Fiber.join(other)
        yield* Deferred.succeed(goOn, undefined)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(held)))
      }).pipe(Effect.scoped)
    )

    it.live("is not waited for where it refuses the user or has no such database", () =>
      Effect.gen(function* () {
        const place = yield* location
        for (const change of [
          (url: URL) => {
            url.username = "nobody"
          },
          (url: URL) => {
            url.pathname = "/nothing"
          }
        ]) {
          const failure = yield* Effect.flip(Effect.provideService(open(place, change), WaitForServer, true))
          assert.match(failure.message, /does not exist/)
        }
      }).pipe(Effect.scoped)
    )
  })
}

for (const store of stores.filter(({ name }) => name === "postgres")) {
  layer(store.layer, { excludeTestServices: true })("Database on a server that ends its connections", (it) => {
    const sleep = Effect.flatMap(Database, ({ query }) => query(rows(sql`select pg_sleep(30)`)))
    const names = Effect.flatMap(Database, ({ query }) => query((db) => db.selectFrom("account").select("name")))
    const insert = (name: string) =>
      Effect.flatMap(Database, ({ query }) => query((db) => db.insertInto("account").values({ name, created: 1 })))
    /** What the server says of this database's other connections. */
    const others = (column: string, where = "true") =>
      Effect.flatMap(Database, ({ query }) =>
        query(
          rows(sql`select ${sql.raw(column)} from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and ${sql.raw(where)}`)
        )
      )
    const until = (count: number, where?: string) =>
      Effect.repeat(others("pid", where), { until: (found) => found.length === count })

    it.effect("fails what was under way on them, and nothing that comes after", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        for (let round = 0; round < 10; round++) {
          const ended = yield* Deferred.make<void>()
          const underWay: ReadonlyArray<Effect.Effect<unknown, DatabaseError, Database>> = [
            sleep,
            transaction(Effect.andThen(insert("a"), sleep)),
            transaction(insert("b").pipe(Effect.andThen(Deferred.await(ended)), Effect.andThen(insert("c"))))
          ]
          const fibers = yield* Effect.forEach(underWay, (effect) => Effect.forkChild(effect))
          yield* until(2, "state = 'active' and query like '%pg_sleep%'")
          yield* until(1, "state = 'idle in transaction'")
          yield* others("pg_terminate_backend(pid)", "state <> 'idle'")
          yield* until(0, "state <> 'idle'")
          yield* Deferred.succeed(ended, undefined)
          for (const fiber of fibers) {
            assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "DatabaseError")
            // Each of the pool's connections answers.
            const answers = yield* Effect.all([names, names, names, names, names], { concurrency: "unbounded" })
            assert.deepStrictEqual(answers.flat(), [])
          }
        }
        yield* transaction(insert("d"))
        assert.deepStrictEqual(yield* names, [{ name: "d" }])
      })
    )
  })
}
