import { spawnSync } from "node:child_process"
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Migrations from "@headwater/indexer/store/database/internal/Migrations"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import pg from "pg"
import * as Folder from "../../../../test/Folder.ts"
import { program } from "../../../../test/Program.ts"
import { takenUnmigrated, unmigrated } from "../../../../test/Stores.ts"
import * as Released from "../../../indexer/test/store/database/Released.ts"
import { run } from "../Program.ts"
import { runCommand } from "../RunCommand.ts"

/** A settings file that names the store. */
const settingsOf = (location: Location, more: object = {}) =>
  Effect.map(Folder.scoped, (folder) => {
    const file = join(folder, "headwater.json")
    const store = location.kind === "sqlite" ? { sqlite: location.file } : { postgres: Redacted.value(location.url) }
    const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
    writeFileSync(file, JSON.stringify({ store, chains, ...more }))
    return file
  })

const check = Effect.fnUntraced(function* (config: string) {
  const { code, stdout } = yield* runCommand(["upgrade", "--check", "--json", "--config", config])
  return { code, ...JSON.parse(stdout) }
})

const messagesOf = ({ checked }: { readonly checked: ReadonlyArray<{ level: string; message: string }> }) =>
  checked.map(({ level, message }) => `${level}: ${message}`).join("\n")

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`headwater upgrade --check on ${name}`, () => {
    it.live("says what would be migrated, migrates nothing, and is content afterwards", () =>
      Effect.gen(function* () {
        const store = yield* location
        const config = yield* settingsOf(store)
        yield* Released.load("0.1", store)
        const schema = yield* Released.schemaOf(store)
        // As every daemon leaves its file.
        if (store.kind === "sqlite") yield* Released.execute(store, "pragma journal_mode=wal")
        const files = store.kind === "sqlite" ? readdirSync(dirname(store.file)) : []
        const before = yield* check(config)
        if (store.kind === "sqlite") assert.deepStrictEqual(readdirSync(dirname(store.file)), files)
        assert.strictEqual(before.code, 0, messagesOf(before))
        assert.strictEqual(before.store.schema, "0009_replay")
        const pending = new Map<string, { atStart: Array<unknown>; behind: Array<unknown> }>(
          before.store.pending.map((migration: { readonly name: string }) => [migration.name, migration])
        )
        assert.deepInclude(pending.get("0012_completeness")!.behind, { table: "subscription", rows: 2, more: false })
        assert.deepInclude(pending.get("0015_wallet_coins")!.atStart, { table: "wallet", rows: 1, more: false })
        assert.deepStrictEqual(pending.get("0045_filters")!.atStart, [])
        assert.match(messagesOf(before), /21 rows of callback/)
        assert.match(messagesOf(before), /no older version runs on the store afterwards/)
        assert.match(before.next.join("\n"), /^Stop every daemon[\s\S]*Back up[\s\S]*npm start -- serve/)
        assert.deepStrictEqual(yield* Released.schemaOf(store), schema)

        yield* Effect.scoped(Layer.build(Database.layer(store)))
        const after = yield* check(config)
        assert.strictEqual(after.code, 0, messagesOf(after))
        assert.deepStrictEqual(after.store.pending, [])
        assert.deepStrictEqual(after.store.unfinished.toSorted(), [
          ...["callback secrets", "completeness of subscriptions", "completeness of wallets"]
        ])

        yield* Released.execute(store, "insert into secret_key values ('0123456789ab')")
        const withoutKey = yield* check(config)
        assert.strictEqual(withoutKey.code, 1)
        assert.match(messagesOf(withoutKey), /obstacle: .* lacks a key that callback secrets are encrypted with/)
        yield* Released.execute(store, "delete from secret_key")

        yield* Released.execute(
          store,
          `insert into kysely_migration values ('9999_from_the_future', '2099-01-01');
           update store_format set oldest_migration = '9999_from_the_future', oldest_program = '9.9.0'`
        )
        const tooNew = yield* check(config)
        assert.strictEqual(tooNew.code, 1)
        assert.match(messagesOf(tooNew), /obstacle: .*headwater 9\.9\.0 is the oldest that may run/)
      }).pipe(Effect.scoped)
    )
  })
}

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`headwater upgrade --check on ${name} of one migration`, () => {
    it.live("names the migration once, asks for no room, and counts the log that a killed daemon left", () =>
      Effect.gen(function* () {
        const store = yield* location
        const config = yield* settingsOf(store)
        // Not closed while the store is looked at, as nothing closes it where the daemon was killed.
        yield* Layer.build(Database.layer(store))
        const found = yield* Effect.provideService(check(config), Migrations.NewerMigrations, {
          "9998_later": { up: () => ["alter table callback add column note text"] }
        })
        assert.match(messagesOf(found), /1 migration is pending, 9998_later; the first program .* runs it/)
        assert.match(messagesOf(found), /ok: the store has .*, and needs no more room/)
        if (store.kind !== "sqlite") return
        const [file, log] = [statSync(store.file).size, statSync(`${store.file}-wal`).size]
        assert.isAbove(log, 0)
        assert.strictEqual(found.store.bytes, file + log)
      }).pipe(Effect.scoped)
    )
  })
}

/** Root alone may run a program as another user. */
const mayBecomeNobody = process.getuid?.() === 0 && spawnSync("setpriv", ["--version"]).status === 0

describe.skipIf(unmigrated.length === 1)("headwater upgrade --check of daemons that run", () => {
  it.live("says whether they may be upgraded one after another", () =>
    Effect.gen(function* () {
      const store = yield* unmigrated[1]!.location
      const config = yield* settingsOf(store)
      const daemon = yield* Layer.build(Database.layer(store))
      yield* Context.get(daemon, Database).compatible
      const withNewer = (statements: ReadonlyArray<string>) =>
        Effect.provideService(check(config), Migrations.NewerMigrations, { "9998_later": { up: () => statements } })
      const adding = yield* withNewer(["alter table callback add column note text"])
      assert.match(messagesOf(adding), /ok: Headwater is connected to the database.*: the daemons may go on/)
      assert.match(adding.next.join("\n"), /^Back up[\s\S]*then the next one/)
      const final = yield* withNewer(["update store_format set oldest_migration = '9998_later', oldest_program = '9'"])
      assert.match(messagesOf(final), /note: Headwater is connected to the database.*: stop every daemon/)
      assert.match(final.next.join("\n"), /^Stop every daemon/)
    }).pipe(Effect.scoped)
  )
})

describe("headwater upgrade", () => {
  const [{ location }] = unmigrated as [(typeof unmigrated)[number]]

  it.live("names a daemon that has the store, and settings that this version refuses", () =>
    Effect.gen(function* () {
      const store = yield* location
      const config = yield* settingsOf(store)
      yield* Released.load("0.1", store)
      const held = yield* Effect.scoped(Effect.andThen(StoreLock.acquire(store), check(config)))
      assert.strictEqual(held.code, 1)
      assert.match(messagesOf(held), /obstacle: The store .* is in use by another headwater.*stop every daemon/)
      yield* Effect.scoped(Layer.build(Database.layer(store)))
      const current = yield* Effect.scoped(Effect.andThen(StoreLock.acquire(store), check(config)))
      assert.strictEqual(current.code, 1, "the next start of this version would be refused")
      assert.match(current.next[0], /^Stop the daemon/)
      const refused = yield* check(yield* settingsOf(store, { http: { prot: 1 } }))
      assert.strictEqual(refused.code, 1)
      assert.match(messagesOf(refused), /obstacle: .*http\.prot is not a setting; did you mean port\?/)
    }).pipe(Effect.scoped)
  )

  it.live("shows the line of settings that cannot be parsed as it stands, and their file once", () =>
    Effect.gen(function* () {
      const config = (yield* settingsOf(yield* location)).replace(/json$/, "toml")
      writeFileSync(config, "[http]\nport = 8080 8080\n")
      const { code, stdout } = yield* runCommand(["upgrade", "--check", "--config", config])
      assert.strictEqual(code, 1)
      assert.include(stdout, "\n    2 | port = •••• ••••\n      |             ^\n")
      assert.strictEqual(stdout.split(config).length, 2, stdout)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!mayBecomeNobody)("says what to do where this user may not open the lock of the store", () =>
    Effect.gen(function* () {
      const store = yield* location
      assert(store.kind === "sqlite")
      const config = yield* settingsOf(store)
      yield* Released.load("0.1", store)
      yield* Effect.scoped(StoreLock.acquire(store))
      // Everything else is open to everybody.
      for (const folder of [dirname(config), dirname(store.file)]) chmodSync(folder, 0o777)
      for (const file of [config, store.file]) chmodSync(file, 0o666)
      const args = [
        "--reuid=65534",
        "--clear-groups",
        process.execPath,
        program,
        "upgrade",
        "--check",
        "--config",
        config
      ]
      const { status, stdout } = spawnSync("setpriv", args, { cwd: "/", encoding: "utf8", env: {} })
      assert.strictEqual(status, 1)
      assert.match(stdout, /OBSTACLE .*This user may not open \S+\.lock, by which .* as the user who owns the file$/m)
    }).pipe(Effect.scoped)
  )

  const onPostgres = unmigrated.find(({ name }) => name === "postgres")
  it.live.skipIf(onPostgres === undefined)("counts the daemons of a PostgreSQL database, and no other clients", () =>
    Effect.gen(function* () {
      const store = yield* onPostgres!.location
      assert(store.kind === "postgres")
      const named = (name: string): Location => {
        const url = new URL(Redacted.value(store.url))
        url.searchParams.set("application_name", name)
        return { ...store, url: Redacted.make(url.href) }
      }
      const inUse = (location: Location) =>
        Effect.map(Effect.flatMap(settingsOf(location), check), ({ store }) => store.inUse)
      const client = (name: string) =>
        Effect.acquireRelease(
          Effect.promise(async () => {
            const client = new pg.Client({ connectionString: Redacted.value(store.url), application_name: name })
            await client.connect()
            return client
          }),
          (client) => Effect.promise(() => client.end())
        )
      const daemon = (location: Location) =>
        Effect.flatMap(Layer.build(Database.layer(location)), (context) =>
          Context.get(context, Database).read((db) => db.selectFrom("account").select("id"))
        )
      yield* Effect.scoped(daemon(store))
      yield* client("psql")
      assert.isUndefined(yield* inUse(store))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* client("")
          assert.match(yield* inUse(store), /^Headwater is connected to the database \(1 connection,/)
        })
      )
      yield* daemon(named("headwater-eu"))
      assert.isUndefined(yield* inUse(store))
      assert.isDefined(yield* inUse(named("headwater-eu")))
      yield* daemon(store)
      assert.isDefined(yield* inUse(store))
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(onPostgres === undefined)("names an empty database in whose encoding no store is made", () =>
    Effect.gen(function* () {
      const store = yield* onPostgres!.location
      assert(store.kind === "postgres")
      const url = new URL(Redacted.value(store.url))
      const name = `${url.pathname.slice(1)}_latin`
      url.pathname = name
      const latin: Location = { ...store, url: Redacted.make(url.href) }
      yield* Effect.acquireRelease(
        Released.execute(store, `create database ${name} encoding 'LATIN1' locale 'C' template template0`),
        () => Released.execute(store, `drop database ${name} with (force)`)
      )
      const config = yield* settingsOf(latin)
      const empty = yield* check(config)
      assert.strictEqual(empty.code, 1)
      assert.include(messagesOf(empty), "obstacle: the database has the encoding LATIN1")
      assert.deepStrictEqual(empty.next, ["Name another database in store.postgres"])
      // Where the store is there already, the daemon goes on.
      yield* Released.load("0.1", latin)
      assert.strictEqual((yield* check(config)).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is content where there is no store yet, and leaves upgrades to npm", () =>
    Effect.gen(function* () {
      // Named by its path, so that whoever runs this in another folder than the daemon's notices.
      const file = join(tmpdir(), "headwater-upgrade-none.db")
      const none = yield* Effect.flatMap(settingsOf({ kind: "sqlite", file }), check)
      assert.strictEqual(none.code, 0)
      assert.include(messagesOf(none), `ok: there is no store yet: the first start makes ${file}`)
      assert.deepStrictEqual(none.next, ["Start this version: npm start -- serve"])
      const nowhere = yield* Effect.flatMap(settingsOf({ kind: "sqlite", file: join(file, "headwater.db") }), check)
      assert.strictEqual(nowhere.code, 1)
      assert.include(messagesOf(nowhere), `obstacle: there is no store yet, and ${file}/headwater.db cannot be made`)
      const without = yield* run(["upgrade"])
      assert.strictEqual(without.code, 2)
      assert.match(without.stderr, /npm install @headwater\/daemon@latest/)
    }).pipe(Effect.scoped)
  )
})
