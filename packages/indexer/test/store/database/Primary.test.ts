/** A primary and its standbys, real servers: which one a store is opened on, and what becomes of it when one is promoted. */
import { createServer, Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Database, DatabaseError, type Location, WaitForServer } from "@headwater/indexer/store/database/Database"
import * as PostgresPrimary from "@headwater/indexer/store/database/internal/PostgresPrimary"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { sql } from "kysely"
import { freePort } from "../../../../../test/FreePort.ts"
import * as Servers from "../../../../../test/PostgresServer.ts"
import { locations } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"

const isInstalled = locations.some(({ name }) => name === "postgres")

const started = Effect.acquireRelease(
  Effect.promise(async () => (await Servers.start())!),
  (server) => Effect.sync(server.remove)
)
const standbyOf = (server: Servers.PostgresServer, name = "standby") =>
  Effect.acquireRelease(
    Effect.promise(() => server.standby(name)),
    (standby) => Effect.sync(standby.remove)
  )

const ask = (url: string, statement: string) => Effect.promise(() => Servers.ask(url, statement))

const hostOf = (url: string) => new URL(url).host
/** One URL for all, in this order. */
const together = (...urls: ReadonlyArray<string>) =>
  Redacted.make(`postgres://postgres@${urls.map(hostOf).join(",")}/postgres?target_session_attrs=read-write`)
const location = (url: Redacted.Redacted): Location => ({ kind: "postgres", url, connections: 3 })

const nameOf = (url: Redacted.Redacted) => Effect.map(PostgresPrimary.primary(url), ({ name }) => name)
/** As a process that has seen nothing yet. */
const asAnother = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.provideServiceEffect(
    self,
    PostgresPrimary.SeenTimelines,
    Effect.sync(() => new Map())
  )

/** A server that accepts connections and answers this, or nothing. */
const answering = (answer?: Buffer) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((socket) => {
        socket.on("error", () => {})
        if (answer !== undefined) socket.once("data", () => socket.end(answer))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { readonly port: number }
        resume(Effect.succeed({ url: `postgres://127.0.0.1:${port}`, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** A connection that no error ends, such as that of pg's own time: only who does not want the connection any more. */
const patientSocket = () => {
  const socket = new Socket()
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error) => (error === undefined ? destroy() : socket)
  return socket
}

/** An error as PostgreSQL sends it. */
const wrongPassword = (() => {
  const fields = Buffer.from("SFATAL\0VFATAL\0C28P01\0Mno password will do\0\0")
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
})()

const insert = (name: string) =>
  Effect.flatMap(Database, ({ query }) => query((db) => db.insertInto("account").values({ name, created: 1 })))
const isThere = (name: string) =>
  Effect.map(
    Effect.flatMap(Database, ({ read }) =>
      read((db) => db.selectFrom("account").select("id").where("name", "=", name))
    ),
    (found) => found.length > 0
  )
const backend = Effect.map(
  Effect.flatMap(Database, ({ query }) => query(rows(sql<{ readonly pid: number }>`select pg_backend_pid() as pid`))),
  ([row]) => row!.pid
)

const codeOf = ({ cause }: DatabaseError) => (cause as { readonly code?: string }).code
const orNone = Effect.catchDefect(() => Effect.succeed([]))

const on =
  (url: Redacted.Redacted) =>
  <A, E>(self: Effect.Effect<A, E, Database>) =>
    Effect.provide(self, Database.layer(location(url)))

it.effect("a server that takes connections and does not answer may stand behind a pool that is too small", () =>
  Effect.gen(function* () {
    // As pg says after `query_timeout`.
    const client = { query: () => Promise.reject(new Error("Query read timeout")) }
    const { message, unavailable } = yield* Effect.tryPromise({
      try: () => PostgresPrimary.ask(client),
      catch: (cause) => new DatabaseError({ cause })
    }).pipe(Effect.flip)
    assert.match(message, /^Query read timeout: .*pool \(PgBouncer\).*`store\.connections`/)
    assert.isTrue(unavailable)
  })
)

describe.skipIf(!isInstalled || !isInTurn(import.meta.url))("of a primary and its standbys", () => {
  it.live("a store is opened on the one that takes writes, whoever else is silent, away or a standby", () =>
    Effect.gen(function* () {
      const primary = yield* started
      const standby = yield* standbyOf(primary)
      const away = `postgres://127.0.0.1:${yield* freePort}`
      const { url: mute } = yield* answering()
      assert.strictEqual(yield* nameOf(together(primary.url, standby.url)), hostOf(primary.url))
      assert.strictEqual(yield* nameOf(together(mute, standby.url, away, primary.url)), hostOf(primary.url))
      // The silent one is not waited for until its connection is given up.
      const found = nameOf(together(mute, primary.url)).pipe(
        Effect.provideService(PostgresPrimary.ServerSockets, patientSocket)
      )
      assert.strictEqual(yield* found, hostOf(primary.url))

      const failure = yield* Effect.flip(nameOf(together(standby.url, away)))
      assert.isTrue(failure.unavailable)
      assert.match(failure.message, /^No server takes writes: .* is a standby; .*ECONNREFUSED/)
      // What waiting does not mend counts where nobody takes writes.
      const { url: refusing } = yield* answering(wrongPassword)
      assert.strictEqual(yield* nameOf(together(refusing, primary.url)), hostOf(primary.url))
      const refused = yield* Effect.flip(nameOf(together(refusing, standby.url)))
      assert.isFalse(refused.unavailable)
      assert.match(refused.message, /: no password will do; .* is a standby$/)
      // One server alone is looked at as it is, and waited for where it may be waited for.
      assert.strictEqual(yield* nameOf(Redacted.make(standby.url)), hostOf(standby.url))
      const waiting = yield* Effect.flip(Effect.provideService(nameOf(Redacted.make(standby.url)), WaitForServer, true))
      assert.isTrue(waiting.unavailable)

      const stranger = yield* Effect.flip(nameOf(together(primary.url, process.env.DATABASE_URL!)))
      assert.isFalse(stranger.unavailable)
      assert.match(stranger.message, /neither is a copy of the other/)
    }).pipe(Effect.scoped)
  )

  it.live("the former one is left at a promotion, although it goes on, and is never gone back to", () =>
    Effect.gen(function* () {
      const primary = yield* started
      const standby = yield* standbyOf(primary)
      const url = together(primary.url, standby.url)
      const epoch = yield* Effect.gen(function* () {
        const { query, replaced, transaction } = yield* Database
        yield* insert("kept")
        // A connection that finds itself where nothing is written is not used again.
        const demoted = yield* backend
        const refused = transaction(Effect.andThen(query(rows(sql`set transaction read only`)), insert("refused")))
        assert.strictEqual(codeOf(yield* Effect.flip(refused)), "25006")
        assert.notStrictEqual(yield* backend, demoted)

        while ((yield* ask(standby.url, "select 1 from account where name = 'kept'").pipe(orNone)).length === 0) {
          yield* Effect.sleep("20 millis")
        }
        yield* Effect.promise(standby.holdBack)
        yield* insert("lost")
        const underWay = transaction(Effect.andThen(insert("in vain"), query(rows(sql`select pg_sleep(120)`))))
        const fiber = yield* Effect.forkChild(Effect.flip(underWay))
        yield* Effect.sync(standby.promote)
        assert.match(yield* replaced, new RegExp(`^${hostOf(standby.url)} was promoted \\(timeline 2, before 1\\)$`))
        for (const failure of [yield* Fiber.join(fiber), yield* Effect.flip(insert("too late"))]) {
          assert.isTrue(failure.replaced && failure.unavailable && failure.storeFailed)
          assert.match(failure.message, /^The store is on another server now: .* Open the store again$/)
        }
        return yield* on(Redacted.make(primary.url))(StoreEpoch.current).pipe(asAnother)
      }).pipe(on(url))

      yield* Effect.gen(function* () {
        assert.isTrue(yield* isThere("kept"))
        assert.isFalse(yield* isThere("lost"))
        // Numbers that the former one has given may stand for something else here.
        assert.notStrictEqual(yield* StoreEpoch.current, epoch)
      }).pipe(on(url))
      assert.strictEqual(yield* nameOf(url).pipe(asAnother), hostOf(standby.url))
      const former = yield* Effect.flip(nameOf(Redacted.make(primary.url)))
      assert.match(
        former.message,
        /is a former primary \(timeline 1\): another server was promoted since \(timeline 2\)/
      )
      standby.kill()
      assert.isTrue((yield* Effect.flip(nameOf(url))).unavailable)
    }).pipe(Effect.scoped)
  )

  it.live("one whose commits the other has waited for loses nothing, and its epoch stays", () =>
    Effect.gen(function* () {
      const primary = yield* started
      const standby = yield* standbyOf(primary)
      yield* ask(primary.url, "alter system set synchronous_standby_names = 'standby'")
      yield* ask(primary.url, "select pg_reload_conf()")
      const url = together(primary.url, standby.url)
      const epoch = yield* Effect.gen(function* () {
        const { replaced } = yield* Database
        const epoch = yield* StoreEpoch.current
        yield* insert("kept")
        yield* Effect.sync(primary.kill)
        yield* Effect.sync(standby.promote)
        yield* replaced
        return epoch
      }).pipe(on(url))
      for (const process of [<A, E, R>(self: Effect.Effect<A, E, R>) => self, asAnother]) {
        yield* Effect.gen(function* () {
          assert.isTrue(yield* isThere("kept"))
          assert.strictEqual(yield* StoreEpoch.current, epoch)
        }).pipe(on(url), process)
      }
    }).pipe(Effect.scoped)
  )
})
