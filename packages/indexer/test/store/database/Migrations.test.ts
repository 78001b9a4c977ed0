import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import type { ColumnTypes } from "@headwater/indexer/store/database/internal/ColumnTypes"
import * as Migrations from "@headwater/indexer/store/database/internal/Migrations"
import * as PostgresAdapter from "@headwater/indexer/store/database/internal/PostgresAdapter"
import * as SqliteAdapter from "@headwater/indexer/store/database/internal/SqliteAdapter"
import * as missingParts from "@headwater/indexer/store/database/migrations/0023_missing_parts"
import * as silentTokens from "@headwater/indexer/store/database/migrations/0078_silent_tokens"
import * as migrations from "@headwater/indexer/store/database/migrations/migrations"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { locations, takenUnmigrated, unmigrated } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"
import * as Released from "./Released.ts"
import { readsRight } from "./released/readsRight.ts"

/** Opens and closes the store; what it fails with. */
const open = (location: Location) => Effect.scoped(Layer.build(Database.layer(location)))

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`Migrations on ${name}`, () => {
    for (const release of Released.releases) {
      it.live(`bring a store of ${release} with its data to the schema of a new one`, () =>
        Effect.gen(function* () {
          const [upgraded, empty] = [yield* location, yield* location]
          yield* Released.load(release, upgraded)
          // Whatever that release had found out of a wallet is looked for again.
          yield* Released.execute(upgraded, "update wallet set state = 'synced', scan_height = 1")
          yield* readsRight(upgraded)
          yield* open(empty)
          const schema = yield* Released.schemaOf(upgraded)
          assert.deepStrictEqual(schema, yield* Released.schemaOf(empty))
          yield* open(upgraded)
          assert.deepStrictEqual(yield* Released.schemaOf(upgraded), schema)
        }).pipe(Effect.scoped)
      )
    }

    it.live("put the parts that each block lacks into ranges", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* open(store)
        const lacking = [
          ...[...[3, 4, 5, 7, 9, 10].map((height) => [1, height, "internal"]), [2, 6, "internal"], [2, 7, "internal"]],
          ...[4, 6].map((height) => [1, height, "other"])
        ]
        const values = lacking.map(([chain, height, part]) => `(${chain}, ${height}, '${part}', 'no state')`).join()
        yield* Released.execute(
          store,
          `drop table missing_parts;
           create table missing_part (chain bigint, height bigint, part text, reason text,
             primary key (chain, height, part));
           insert into missing_part values ${values};
           ${missingParts.up(store.kind === "sqlite" ? SqliteAdapter.columnTypes : PostgresAdapter.columnTypes).join(";")}`
        )
        const rows = yield* Effect.gen(function* () {
          const { read } = yield* Database
          return yield* read((db) =>
            db.selectFrom("missing_parts").selectAll().orderBy("chain").orderBy("part").orderBy("from_height")
          )
        }).pipe(Effect.provide(Database.layer(store)))
        assert.deepStrictEqual(
          rows.map(({ chain, from_height: from, part, to_height: to }) => [chain, part, from, to] as const),
          [
            [1, "internal", 3, 5],
            [1, "internal", 7, 7],
            [1, "internal", 9, 10],
            ...[4, 6].map((height) => [1, "other" as "internal", height, height] as const),
            [2, "internal", 6, 7]
          ]
        )
        assert.isTrue(rows.every(({ reason }) => reason === "no state"))
      }).pipe(Effect.scoped)
    )

    it.live("have contracts asked again that said nothing, and no others", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* open(store)
        const insert = (contract: string, name: string, symbol: string, decimals: string) =>
          `insert into token (chain, contract, height, name, symbol, decimals)
           values (1, ${store.kind === "sqlite" ? `x'${contract}'` : `'\\x${contract}'`}, 7, '${name}', '${symbol}', ${decimals})`
        yield* Released.execute(
          store,
          [
            insert("01", "", "", "null"),
            insert("02", "Two", "", "null"),
            insert("03", "", "THREE", "null"),
            insert("04", "", "", "0"),
            ...silentTokens.up()
          ].join(";")
        )
        const rows = yield* Effect.gen(function* () {
          const { read } = yield* Database
          return yield* read((db) => db.selectFrom("token").select("contract").orderBy("contract"))
        }).pipe(Effect.provide(Database.layer(store)))
        assert.deepStrictEqual(
          rows.map(({ contract }) => [...contract]),
          [[2], [3], [4]]
        )
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")("go on where the catalogue changes while Kysely reads it", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Released.load("0.1", store)
        // As the migrations of another process do, and no longer than the database is there.
        const change = (how: string) => Effect.uninterruptible(Released.execute(store, `alter table changing ${how}`))
        yield* Released.execute(store, "create table changing (id int, a int)")
        yield* change("drop column a").pipe(
          Effect.andThen(Effect.suspend(() => change("add column a int"))),
          Effect.andThen(Effect.sleep("5 millis")),
          Effect.forever,
          Effect.forkScoped
        )
        yield* open(store)
      }).pipe(Effect.scoped)
    )

    it.live("let several processes begin at once on an empty store", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Effect.all(
          Array.from({ length: 5 }, () => open(store)),
          { concurrency: "unbounded" }
        )
        yield* open(store)
      }).pipe(Effect.scoped)
    )

    it.live("refuse a program that is older than the store allows, and no other", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* open(store)
        yield* Released.execute(
          store,
          "insert into kysely_migration values ('9998_addition', '2100-01-01T00:00:00.000Z')"
        )
        yield* open(store)
        yield* Released.execute(
          store,
          `insert into kysely_migration values ('9999_change', '2100-01-01T00:00:00.001Z');
           update store_format set oldest_migration = '9999_change', oldest_program = '7.8.9'`
        )
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreTooNew")
        assert.match(error.message, /headwater 7\.8\.9 is the oldest that may run on it: install that or a newer one/)
      }).pipe(Effect.scoped)
    )

    it.live("say what to do with a store that 0.1 was killed in while it made the tables", () =>
      Effect.gen(function* () {
        const store = yield* location
        yield* Released.execute(store, "create table chain (id bigint)")
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreIncomplete")
        assert.match(
          error.message,
          /^Migration 0001_main cannot be applied, .*chain.* already exists\. Either headwater 0\.1 was killed/
        )
        assert.match(error.message, /give the store a new file, or an empty database$/)
        // Nothing else was made on the way.
        yield* Released.execute(store, "drop table chain")
        yield* open(store)
      }).pipe(Effect.scoped)
    )
  })
}

for (const { location } of unmigrated.filter(({ name }) => name === "postgres")) {
  describe("Migrations of a PostgreSQL database", () => {
    it.live("leave a role that may insert callbacks able to number them", () =>
      Effect.gen(function* () {
        const store = yield* location
        const role = `inserts_${Math.floor(Math.random() * 2 ** 31)}`
        yield* Released.load(Released.releases[0]!, store)
        yield* Effect.acquireRelease(
          Released.execute(store, `create role ${role}; grant insert on callback to ${role}`),
          () => Released.execute(store, `drop owned by ${role}; drop role ${role}`)
        )
        yield* open(store)
        yield* Released.execute(
          store,
          `set role ${role};
           insert into callback (subscription, host, account, chain, height, idempotency_key, event, body, state, due, attempts,
             attempt_log, sequence, created)
           values (1, 'host.test', 1, 1, 1, 'key', 'BLOCK_MINED', '{}', 'delivered', 1, 1, '[]', 1, 1)`
        )
      }).pipe(Effect.scoped)
    )
  })
}

describe("Migrations of a SQLite file", () => {
  it.live("wait for the process that has the store, which any other command need not", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      yield* Released.load("0.1", store)
      yield* Effect.gen(function* () {
        yield* StoreLock.acquire(store)
        const error = yield* Effect.flip(open(store))
        assert.strictEqual(error._tag, "StoreInUse")
        assert.match(error.message, /^Its schema is to be brought up to date first\. The store .* is in use by another/)
      }).pipe(Effect.scoped)
      yield* open(store)
      yield* StoreLock.acquire(store)
      yield* open(store)
    }).pipe(Effect.scoped)
  )
})

const additions = {
  "9997_addition": {
    up: ({ partitioned }: ColumnTypes) => [
      `alter table ${partitioned ? "every_callback" : "callback"} add column note text`,
      "create table noted (id bigint not null primary key)",
      "create index callback_note on callback (account, note)"
    ]
  }
}
const change = {
  "9998_change": {
    up: () => [
      "alter table noted add column more text",
      "update store_format set oldest_migration = '9998_change', oldest_program = '7.8.9'"
    ]
  }
}

describe.skipIf(locations.length === 1)("Migrations of a PostgreSQL store that daemons share", () => {
  it.live("leave an older daemon at its work while they only add, and end it where it would go wrong", () =>
    Effect.gen(function* () {
      const store = yield* locations[1]!.location
      const services = Outbox.layer.pipe(
        Layer.provideMerge(Subscriptions.layer),
        Layer.provideMerge(Database.layer(store))
      )
      const start = (newer: typeof Migrations.NewerMigrations.Service) =>
        Layer.build(services.pipe(Layer.provide(Layer.succeed(Migrations.NewerMigrations, newer))))
      const older = yield* start({})
      const host = "a.test"
      const subscription = yield* Effect.gen(function* () {
        return yield* Seed.subscription(yield* Seed.account, `https://${host}/`)
      }).pipe(Effect.provide(older))
      let rounds = 0
      /** Callbacks are made, leased and accepted. */
      const round = Effect.gen(function* () {
        const outbox = yield* Outbox
        yield* Seed.callbacks(subscription, 2, { label: `${rounds}` })
        const turns = { accountCursor: 0, accounts: new Map(), accountLimit: 8, callbacks: 10_000 }
        const capacity = { host, limit: 8, batchSize: 8, followOns: [], retriesFirst: false, ...turns }
        const leases = yield* outbox.lease([capacity], 60_000)
        const callbacks = leases.flatMap(({ callbacks }) => callbacks)
        assert.lengthOf(callbacks, 2)
        const attempt = { at: Date.now(), duration: 1, status: 200 }
        yield* outbox.acknowledge(callbacks.map((callback) => ({ kind: "delivered", callback, attempt })))
        rounds++
      })
      let isOver = false
      const work = yield* Effect.repeat(round, { until: () => isOver }).pipe(Effect.provide(older), Effect.forkChild)
      const until = (count: number) =>
        Effect.suspend(() => {
          const ended = work.pollUnsafe()
          return ended === undefined ? Effect.succeed(rounds >= count) : Effect.as(ended, true)
        }).pipe(Effect.delay("5 millis"), Effect.repeat({ until: (holds) => holds }))
      yield* until(3)
      const newer = yield* start(additions)
      yield* until(rounds + 3)
      isOver = true
      yield* Fiber.join(work)
      // Whichever is started again: both go on.
      yield* Effect.provide(round, yield* start({}))
      yield* Effect.provide(round, newer)
      yield* Effect.provide(round, older)

      const { compatible } = Context.get(older, Database)
      yield* compatible
      yield* start({ ...additions, ...change })
      const error = yield* Effect.flip(compatible)
      assert.strictEqual(error._tag, "StoreTooNew")
      assert.strictEqual((yield* Effect.flip(start({})))._tag, "StoreTooNew")
      assert.strictEqual((yield* Effect.flip(start(additions)))._tag, "StoreTooNew")
    }).pipe(Effect.scoped)
  )
})

/** Whether a program that does not know a statement goes on as before. `made`: tables of the same migration. */
const onlyAdds = (statement: string, made: ReadonlySet<string>) => {
  const text = statement.replace(/\s+/g, " ").trim()
  const [, table = ""] =
    /^(?:create table|alter table|create unique index \w+ on|insert into|update|delete from) (\w+)/i.exec(text) ?? []
  if (made.has(table) || /^create (table|index) /i.test(text) || table === "background_migration") return true
  // How the server keeps rows, which are the same rows.
  if (/^alter table \w+ set \(/i.test(text)) return true
  // A row that an older program writes has no value there.
  return /^alter table \w+ add column /i.test(text) && (!/ not null/i.test(text) || / default /i.test(text))
}

describe("Migrations since the first release whose daemons may be upgraded one after another", () => {
  for (const [name, { up }] of Object.entries(migrations).filter(([name]) => name > Migrations.lastBeforeRolling)) {
    it(`${name} only adds, or says the oldest program that may still run`, () => {
      const statements = up(PostgresAdapter.columnTypes)
      const made = new Set(statements.flatMap((text) => /^create table (\w+)/i.exec(text.trim())?.[1] ?? []))
      const others = statements.filter((statement) => !onlyAdds(statement, made))
      const said = statements.some((text) => text.includes("update store_format") && text.includes(`'${name}'`))
      assert.isTrue(said || others.length === 0, `what an older program may not expect: ${others.join("; ")}`)
    })
  }

  it("are told from others", () => {
    const made = new Set(["own"])
    const adding = [
      "create table a (id bigint)",
      "create index b on a (id)",
      "alter table a add column c bigint",
      "alter table a add column c bigint not null default 0",
      "create unique index d on own (id)",
      "alter table a set (fillfactor = 90)",
      "insert into background_migration select 'a', 0, 0"
    ]
    const others = [
      "alter table a drop column c",
      "alter table a add column c bigint not null",
      "alter table a rename to b",
      "create unique index d on a (id)",
      "drop table a",
      "update a set c = 0",
      "delete from a"
    ]
    for (const statement of adding) assert.isTrue(onlyAdds(statement, made), statement)
    for (const statement of others) assert.isFalse(onlyAdds(statement, made), statement)
  })
})
