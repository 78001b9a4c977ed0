import { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { ServerSilence, ServerSockets } from "@headwater/indexer/store/database/internal/PostgresServer"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { locations } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"

/** The ends of a client's messages, each of which the server answers: Sync, and a Query. */
const ends = /^[SQ]$/

/** Messages that were sent, of all connections. */
let messages = 0

/** A socket that counts what is written to it. */
const countedSocket = () => {
  const socket = new Socket()
  // To connect makes `write` what it was.
  socket.once("connect", () => {
    const write = socket.write.bind(socket)
    socket.write = (bytes: Uint8Array) => {
      if (ends.test(String.fromCharCode(bytes[0]!))) messages++
      return write(bytes)
    }
  })
  return socket
}

const counted = Effect.fnUntraced(function* <A, E>(self: Effect.Effect<A, E, Database>) {
  const before = messages
  yield* self
  return messages - before
})

for (const { location } of locations.filter(({ name }) => name === "postgres")) {
  const database = Layer.unwrap(Effect.map(location, Database.layer)).pipe(
    Layer.provide(Layer.succeed(ServerSockets, countedSocket))
  )
  const names = Effect.flatMap(Database, ({ query }) =>
    query((db) => db.selectFrom("account").select("name").orderBy("id"))
  )
  const insert = (...names: ReadonlyArray<string>) =>
    Effect.flatMap(Database, ({ insertMany }) =>
      insertMany(
        "account",
        names.map((name) => ({ name, created: 1 }))
      )
    )
  const rename = (from: string, to: string) =>
    Effect.flatMap(Database, ({ defer }) =>
      defer((db) => db.updateTable("account").set({ name: to }).where("name", "=", from))
    )

  describe.skipIf(!isInTurn(import.meta.url))("A transaction on PostgreSQL", () => {
    it.effect("sends what nobody needs the answer of with the next statement, or with the commit", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        // A connection of the pool is made, and kept.
        yield* names
        const one = Effect.gen(function* () {
          yield* insert("a", "b")
          yield* rename("b", "c")
          assert.deepStrictEqual(yield* names, [{ name: "a" }, { name: "c" }])
          yield* insert("d")
          yield* rename("d", "e")
        })
        assert.strictEqual(yield* counted(transaction(one)), 2)
        assert.strictEqual(yield* counted(transaction(insert("f"))), 1)
        assert.deepStrictEqual(yield* names, [{ name: "a" }, { name: "c" }, { name: "e" }, { name: "f" }])
        assert.strictEqual(yield* counted(transaction(Effect.void)), 0)
        assert.strictEqual(yield* counted(Effect.flip(transaction(Effect.andThen(insert("g"), Effect.fail("no"))))), 0)
        assert.strictEqual(yield* counted(insert("h")), 1)
        assert.lengthOf(yield* names, 5)
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("fails as the statement that failed, which leaves nothing of what was sent with it", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* insert("a")
        const missing = rows(sql`select ${1}::bigint from missing`)
        const failing = [
          Effect.andThen(insert("b"), insert("a")),
          Effect.andThen(insert("b"), Effect.andThen(insert("a"), insert("c"))),
          insert("b").pipe(Effect.andThen(insert("a")), Effect.andThen(insert("c")), Effect.andThen(names)),
          insert("b").pipe(Effect.andThen(insert("a")), Effect.andThen(query(missing)))
        ]
        for (const self of failing) {
          const error = yield* Effect.flip(transaction(self))
          assert.isTrue(error.duplicate, error.message)
          assert.deepStrictEqual(yield* names, [{ name: "a" }])
        }
        // An error that was passed over: the server has undone the transaction, and says so.
        const passedOver = Effect.andThen(Effect.ignore(query(missing)), insert("b"))
        assert.strictEqual((yield* Effect.flip(transaction(passedOver)))._tag, "DatabaseError")
        assert.deepStrictEqual(yield* names, [{ name: "a" }])
        yield* transaction(insert("b"))
        assert.lengthOf(yield* names, 2)
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect(
      "fails where a value cannot be sent, also with an error that is passed over, and the next one has a connection",
      () =>
        Effect.gen(function* () {
          const { defer, query, transaction } = yield* Database
          const circular: { self?: unknown } = {}
          circular.self = circular
          const wrong = defer((db) => db.updateTable("account").set({ name: circular as never }))
          const error = yield* Effect.flip(transaction(Effect.andThen(insert("a"), wrong)))
          assert.include(error.message, "circular")
          assert.isFalse(error.storeFailed)
          const asked = Effect.ignore(query(rows(sql`select ${1}::bigint`)))
          yield* Effect.flip(transaction(insert("b").pipe(Effect.andThen(wrong), Effect.andThen(asked))))
          yield* transaction(insert("c"))
          assert.deepStrictEqual(yield* names, [{ name: "c" }])
        }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.live("hears from the server after each statement of a message", () =>
      Effect.gen(function* () {
        const { defer, transaction } = yield* Database
        const slow = defer(rows(sql`select pg_sleep(0.7)`))
        yield* transaction(Effect.andThen(insert("a"), Effect.repeat(slow, { times: 3 })))
        assert.deepStrictEqual(yield* names, [{ name: "a" }])
      }).pipe(Effect.provide(database), Effect.provideService(ServerSilence, 2_000), Effect.scoped)
    )

    it.effect("takes several statements in one text, as a program's own migration may be", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const made = query(rows(sql`create table own (id bigint); insert into own values (1)`))
        yield* transaction(Effect.andThen(insert("a"), made))
        assert.deepStrictEqual(yield* query(rows(sql`select id from own`)), [{ id: 1 }])
        yield* Effect.flip(transaction(Effect.andThen(query(rows(sql`drop table own; select 1`)), Effect.fail("no"))))
        assert.deepStrictEqual(yield* query(rows(sql`select id from own`)), [{ id: 1 }])
        const error = yield* Effect.flip(transaction(Effect.andThen(insert("a"), query(rows(sql`drop table own`)))))
        assert.isTrue(error.duplicate)
        assert.lengthOf(yield* query(rows(sql`select id from own`)), 1)
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
}
