import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import * as Backup from "@headwater/indexer/store/database/Backup"
import { Database, DatabaseError, type Location } from "@headwater/indexer/store/database/Database"
import * as SecretKeyChange from "@headwater/indexer/store/database/SecretKeyChange"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import * as UpgradeReport from "@headwater/indexer/store/database/UpgradeReport"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import * as LostSecrets from "@headwater/indexer/store/subscriptions/LostSecrets"
import * as SecretRotation from "@headwater/indexer/store/subscriptions/SecretRotation"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { takenUnmigrated, unmigrated } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const secret = "a-secret-that-is-in-no-file"
const newer = "a-newer-secret-that-is-in-no-file"

const services = (location: Location) => Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location)))

const on =
  (location: Location) =>
  <A, E>(run: Effect.Effect<A, E, Database | Subscriptions>) =>
    Effect.scoped(Effect.provide(run, services(location)))

/** The secret of a subscription as its account reads it. */
const secretOf = Effect.fnUntraced(function* ({ account, referenceId }: { account: number; referenceId: string }) {
  const subscriptions = yield* Subscriptions
  return (yield* subscriptions.get({ account, chain: Seed.chain, referenceId })).secret
})

const subscribed = Effect.gen(function* () {
  const account = yield* Seed.account
  const { referenceId } = yield* Seed.subscription(account, "https://example.com/", secret)
  return { account, referenceId }
})

/** Gives a subscription another id, so that a rewriting has many ranges to go through. */
const ofId =
  (id: number) =>
  ({ referenceId }: { readonly referenceId: string }) =>
    Effect.flatMap(Database, ({ query }) =>
      query((db) => db.updateTable("subscription").set({ id }).where("reference_id", "=", referenceId))
    )

const storedSecrets = Effect.flatMap(Database, ({ query }) =>
  query((db) => db.selectFrom("subscription").select(["secret", "previous_secret"]).orderBy("id"))
)

const newKey = () => randomBytes(32).toString("base64")
const withKeys = (location: Location, ...keys: ReadonlyArray<string>): Location => ({
  ...location,
  secretKeys: Redacted.make(keys.join("\n"))
})

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`Callback secrets on ${name}`, () => {
    it.live("are read as they were written, each bound to its subscription", () =>
      Effect.gen(function* () {
        const store = withKeys(yield* location, newKey())
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          const [one, other] = [yield* subscribed, yield* subscribed]
          const key = { account: one.account, chain: Seed.chain, referenceId: one.referenceId }
          yield* SecretRotation.rotate(key, newer, 60_000)
          assert.deepStrictEqual([yield* secretOf(one), yield* secretOf(other)], [newer, secret])
          const rows = yield* storedSecrets
          assert.notInclude(JSON.stringify(rows), "secret-that-is")
          // The same secret twice is not the same text.
          assert.notStrictEqual(rows[0]!.previous_secret, rows[1]!.secret)
          for (const text of [rows[0]!.secret!, `${rows[1]!.secret!.slice(0, -2)}xx`]) {
            yield* query((db) =>
              db.updateTable("subscription").set({ secret: text }).where("reference_id", "=", other.referenceId)
            )
            assert.isTrue(Exit.isFailure(yield* Effect.exit(secretOf(other))))
          }
        }).pipe(on(store))
      }).pipe(Effect.scoped)
    )

    it.live("from before are encrypted behind the migration, and readable meanwhile", () =>
      Effect.gen(function* () {
        const store = withKeys(yield* location, newKey())
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          const made = yield* subscribed
          yield* query((db) => db.updateTable("subscription").set({ secret, previous_secret: newer }))
          yield* query((db) =>
            db.insertInto("background_migration").values({ name: SecretKeyChange.name, position: 0, last: 1_000 })
          )
          assert.strictEqual(yield* secretOf(made), secret)
          yield* BackgroundMigrations.pending
          assert.notInclude(JSON.stringify(yield* storedSecrets), "secret-that-is")
          assert.strictEqual(yield* secretOf(made), secret)
        }).pipe(on(store))
      }).pipe(Effect.scoped)
    )

    it.live("are encrypted with another key, after which the old one is not needed", () =>
      Effect.gen(function* () {
        const [where, old, next] = [yield* location, newKey(), newKey()]
        const made = yield* on(withKeys(where, old))(subscribed)
        // Another key alone opens nothing.
        const refused = yield* on(withKeys(where, next))(
          Effect.flatMap(Database, ({ secrets }) => Effect.flip(secrets.prepare))
        )
        assert.strictEqual(refused._tag, "SecretKeysUnusable")
        assert.notInclude(refused.message, next)
        const both = withKeys(where, next, old)
        assert.strictEqual(yield* on(both)(secretOf(made)), secret)
        yield* on(both)(SecretKeyChange.encryptAll(both))
        const after = withKeys(where, next)
        assert.strictEqual(yield* on(after)(secretOf(made)), secret)
        yield* on(after)(Effect.flatMap(Database, ({ secrets }) => secrets.prepare))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(on(withKeys(where, old))(secretOf(made)))))
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")(
      "are all encrypted with the other key, also where a daemon is at some of them",
      () =>
        Effect.gen(function* () {
          const [where, old, next] = [yield* location, newKey(), newKey()]
          const made = yield* on(withKeys(where, old))(Effect.tap(subscribed, ofId(5_000)))
          const both = withKeys(where, next, old)
          let isAtSome = false
          // As a daemon that looks each minute, and is killed on its way.
          const killed: BackgroundMigrations.BackgroundMigration = {
            ...{ name: SecretKeyChange.name, batchSize: 500 },
            rewrite: () => {
              isAtSome = true
              return Effect.andThen(Effect.sleep("500 millis"), new DatabaseError({ cause: new Error("killed") }))
            }
          }
          const daemon = BackgroundMigrations.run([killed]).pipe(
            Effect.andThen(Effect.sleep("1 millis")),
            Effect.forever,
            Effect.ignore,
            on(both)
          )
          yield* Effect.all([daemon, on(both)(SecretKeyChange.encryptAll(both))], { concurrency: "unbounded" })
          assert.isTrue(isAtSome)
          assert.strictEqual(yield* on(withKeys(where, next))(secretOf(made)), secret)
        }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")("keep their keys where another process goes on with the old one", () =>
      Effect.gen(function* () {
        const [where, old, next] = [yield* location, newKey(), newKey()]
        const made = yield* on(withKeys(where, old))(Effect.tap(subscribed, ofId(5_000)))
        const both = withKeys(where, next, old)
        const daemon = Effect.gen(function* () {
          const { transaction } = yield* Database
          while (!(yield* BackgroundMigrations.isPending(SecretKeyChange.name))) yield* Effect.sleep("1 millis")
          return yield* transaction(Effect.tap(subscribed, ofId(6_000)))
        }).pipe(on(withKeys(where, old, next)))
        const change = on(both)(Effect.exit(SecretKeyChange.encryptAll(both)))
        const [late, refused] = yield* Effect.all([daemon, change], { concurrency: "unbounded" })
        assert.match(String(refused), /Another process encrypts callback secrets with another key than [0-9a-f]{12}/)
        const prepared = on(withKeys(where, next))(Effect.flatMap(Database, ({ secrets }) => secrets.prepare))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(prepared)))
        yield* on(both)(SecretKeyChange.encryptAll(both))
        yield* prepared
        for (const one of [made, late]) assert.strictEqual(yield* on(withKeys(where, next))(secretOf(one)), secret)
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(name === "sqlite")("keep their keys where another process has not committed yet", () =>
      Effect.gen(function* () {
        const [where, old, next] = [yield* location, newKey(), newKey()]
        yield* on(withKeys(where, old))(subscribed)
        const encrypted = yield* Deferred.make<void>()
        const daemon = Effect.gen(function* () {
          const { secrets, transaction } = yield* Database
          yield* secrets.prepare
          return yield* transaction(
            Effect.tap(subscribed, () =>
              Effect.andThen(Deferred.succeed(encrypted, undefined), Effect.sleep("1 second"))
            )
          )
        }).pipe(on(withKeys(where, old, next)))
        const both = withKeys(where, next, old)
        const change = Effect.andThen(Deferred.await(encrypted), Effect.exit(SecretKeyChange.encryptAll(both)))
        const [late, refused] = yield* Effect.all([daemon, on(both)(change)], { concurrency: "unbounded" })
        assert.match(String(refused), /Another process encrypts callback secrets with another key/)
        const prepared = on(withKeys(where, next))(Effect.flatMap(Database, ({ secrets }) => secrets.prepare))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(prepared)))
        yield* on(both)(SecretKeyChange.encryptAll(both))
        assert.strictEqual(yield* on(withKeys(where, next))(secretOf(late)), secret)
      }).pipe(Effect.scoped)
    )

    it.live("whose key is lost are given up, and nothing is sent without them", () =>
      Effect.gen(function* () {
        const [where, lost, next] = [yield* location, newKey(), newKey()]
        const made = yield* on(withKeys(where, lost))(subscribed)
        const store = withKeys(where, next)
        const whole = yield* on(withKeys(where, lost, next))(
          Effect.gen(function* () {
            const account = yield* Seed.account
            return { account, ...(yield* Seed.subscription(account, "https://example.com/")) }
          })
        )
        assert.strictEqual(yield* on(store)(LostSecrets.forget(store)), 1)
        yield* Effect.gen(function* () {
          yield* (yield* Database).secrets.prepare
          const subscriptions = yield* Subscriptions
          const key = { account: made.account, chain: Seed.chain, referenceId: made.referenceId }
          const found = yield* subscriptions.get(key)
          assert.isFalse(found.active)
          assert.strictEqual(found.deactivationReasons[0]!.reason, LostSecrets.reason)
          assert.isUndefined(found.secret)
          yield* SecretRotation.rotate(key, newer, 0)
          yield* subscriptions.activate(key)
          assert.strictEqual(yield* secretOf(made), newer)
          const untouched = yield* subscriptions.get({ ...key, account: whole.account, referenceId: whole.referenceId })
          assert.isTrue(untouched.active)
        }).pipe(on(store))
      }).pipe(Effect.scoped)
    )
  })
}

describe("The key of a SQLite store", () => {
  const fileOf = (location: Location) => (location.kind === "sqlite" ? location.file : "")

  it.live("is made beside the file for its owner alone, and no file of the store has a secret", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      const folder = dirname(fileOf(store))
      yield* Effect.gen(function* () {
        yield* subscribed
        const { query } = yield* Database
        // As 0.1 kept them.
        yield* query((db) => db.updateTable("subscription").set({ secret: newer }))
        yield* SecretKeyChange.encryptAll(store)
        for (const name of readdirSync(folder)) {
          if (name.endsWith("-wal")) continue
          assert.isFalse(readFileSync(join(folder, name)).includes(secret), name)
        }
      }).pipe(on(store))
      assert.strictEqual(statSync(SecretKeys.fileOf(store)).mode & 0o777, 0o600)
      for (const name of readdirSync(folder)) {
        for (const text of [secret, newer]) assert.isFalse(readFileSync(join(folder, name)).includes(text), name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is needed for a backup, and is not made anew where it is missing", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      const made = yield* on(store)(subscribed)
      const copy = join(dirname(fileOf(store)), "copy.db")
      yield* Backup.copy(fileOf(store), copy, () => Effect.void)
      const restored: Location = { kind: "sqlite", file: copy }
      const error = yield* on(restored)(Effect.flatMap(Database, ({ secrets }) => Effect.flip(secrets.prepare)))
      assert.match(error.message, /encrypted with the key [0-9a-f]{12}, which is not in .*copy\.db\.key$/)
      assert.isFalse(existsSync(SecretKeys.fileOf(restored)))
      writeFileSync(SecretKeys.fileOf(restored), readFileSync(SecretKeys.fileOf(store)))
      assert.strictEqual(yield* on(restored)(secretOf(made)), secret)
      renameSync(SecretKeys.fileOf(restored), `${copy}.away`)
      rmSync(`${copy}.away`)
    }).pipe(Effect.scoped)
  )

  it.live("tells that a store was there in a file that is empty: no new one begins in its place", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      yield* on(store)(subscribed)
      const open = on(store)(Effect.void)
      writeFileSync(fileOf(store), "")
      const { message } = yield* Effect.flip(open)
      assert.match(message, /is empty, while .*\.key is of a store that was there: restore a backup/)
      assert.strictEqual((yield* Effect.flip(UpgradeReport.read(store))).message, message)
      assert.strictEqual(statSync(fileOf(store)).size, 0)
      rmSync(fileOf(store))
      yield* open
    }).pipe(Effect.scoped)
  )

  it.live("may be made before its store, whose first start is killed before it has written anything", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      yield* SecretKeys.make(store)
      const thread = (): never => {
        throw new Error("killed")
      }
      const machine = { thread, flush: () => Effect.die("killed") }
      const killed = Effect.provideService(on(store)(Effect.void), SqliteMachine, machine)
      assert.include((yield* Effect.flip(killed)).message, "killed")
      assert.deepStrictEqual(readdirSync(dirname(fileOf(store))).toSorted(), ["store.db", "store.db.key"])
      assert.strictEqual(statSync(fileOf(store)).mode & 0o777, 0o600)
      yield* on(store)(subscribed)
    }).pipe(Effect.scoped)
  )

  it.live("is made anew where a full disk had kept it from being written", () =>
    Effect.gen(function* () {
      const store: Location = yield* unmigrated[0]!.location
      const modules = ["@headwater/indexer/store/database/SecretKeys", "effect/Effect"].map((name) =>
        import.meta.resolve(name)
      )
      const script = `
        import * as SecretKeys from ${JSON.stringify(modules[0])}
        import * as Effect from ${JSON.stringify(modules[1])}
        await Effect.runPromise(SecretKeys.make(${JSON.stringify(store)}))`
      // No file may grow, which a process is told as it is told of a full disk.
      const { status, stderr } = spawnSync(
        "sh",
        ["-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", process.execPath, "--input-type=module", "-e", script],
        { encoding: "utf8" }
      )
      assert.strictEqual(status, 1)
      assert.include(stderr, "EFBIG")
      yield* SecretKeys.make(store)
      assert.lengthOf(yield* SecretKeys.read(store), 1)
    }).pipe(Effect.scoped)
  )

  it("is 32 bytes in one of two forms", () => {
    const key = randomBytes(32)
    const ids = [key.toString("base64"), key.toString("base64url"), key.toString("hex"), `\n${key.toString("hex")},`]
    assert.strictEqual(new Set(ids.map((text) => SecretKeys.parse(text)![0]!.id)).size, 1)
    for (const text of ["", " ", "password", key.toString("base64").slice(4), `${key.toString("hex")} x`]) {
      assert.isUndefined(SecretKeys.parse(text), text)
    }
  })
})
