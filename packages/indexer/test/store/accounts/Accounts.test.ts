import { assert, layer } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"

for (const store of takenStores(import.meta.url)) {
  layer(Accounts.layer.pipe(Layer.provideMerge(store.layer)))(`Accounts on ${store.name}`, (it) => {
    it.effect("makes accounts, each name once", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const before = yield* accounts.list
        const made = yield* accounts.create("one")
        assert.deepStrictEqual(yield* accounts.find("one"), made)
        assert.strictEqual((yield* Effect.flip(accounts.create("one")))._tag, "DuplicateAccount")
        assert.strictEqual((yield* Effect.flip(accounts.find("two")))._tag, "AccountNotFound")
        assert.deepStrictEqual(yield* accounts.list, [...before, made])
      })
    )

    it.effect("knows a key by its hash, until it is revoked", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { id: account } = yield* accounts.create("keys")
        const all = yield* accounts.createKey(account, { name: "all" })
        const few = yield* accounts.createKey(account, { name: "few", endpoints: ["subscriptions.*", "domains.list"] })
        assert.match(Redacted.value(all.key), /^hw_[A-Za-z0-9_-]{43}$/)
        assert.notStrictEqual(Redacted.value(all.key), Redacted.value(few.key))
        const readOnly = false
        assert.deepStrictEqual(yield* accounts.authenticate(all.key), { account, endpoints: undefined, readOnly })
        assert.deepStrictEqual(yield* accounts.authenticate(few.key), {
          ...{ account, readOnly },
          endpoints: new Set(["subscriptions.*", "domains.list"])
        })
        assert.isUndefined(yield* accounts.authenticate(Redacted.make(`${Redacted.value(all.key)}x`)))
        assert.isUndefined(yield* accounts.authenticate(Redacted.make("")))

        yield* accounts.revokeKey(account, all.id)
        yield* accounts.revokeKey(account, all.id)
        assert.isUndefined(yield* accounts.authenticate(all.key))
        const listed = yield* accounts.listKeys(account)
        assert.deepStrictEqual(
          listed.map(({ endpoints, id, name, revoked }) => [id, name, endpoints, revoked !== undefined]).sort(),
          [
            [all.id, "all", undefined, true],
            [few.id, "few", ["subscriptions.*", "domains.list"], false]
          ].sort()
        )
      })
    )

    it.effect("refuses names that nobody could type, and renames", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { id } = yield* accounts.create("before")
        yield* accounts.create("taken")
        for (const name of ["", " ", ".", "..", " a", "a ", "a\n", "a\u0000b", "\u202ea", "x".repeat(65)]) {
          assert.strictEqual((yield* Effect.flip(accounts.create(name)))._tag, "InvalidAccountName", name)
          assert.strictEqual((yield* Effect.flip(accounts.rename(id, name)))._tag, "InvalidAccountName", name)
        }
        for (const name of ["", "new\nline", "\u001b[2J", "\u202egnp.exe", " a", "a".repeat(101)]) {
          assert.strictEqual((yield* Effect.flip(accounts.createKey(id, { name })))._tag, "InvalidKeyName", name)
        }
        assert.strictEqual((yield* Effect.flip(accounts.rename(id, "taken")))._tag, "DuplicateAccount")
        yield* accounts.rename(id, "Müller & Söhne")
        assert.strictEqual((yield* accounts.find("Müller & Söhne")).id, id)
        assert.strictEqual((yield* Effect.flip(accounts.find("before")))._tag, "AccountNotFound")
      })
    )

    it.effect("ends a key when it expires, also one that was used a moment ago", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { id: account } = yield* accounts.create("expiry")
        const now = yield* Clock.currentTimeMillis
        const { key } = yield* accounts.createKey(account, { name: "short", readOnly: true, expires: now + 1_000 })
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual(yield* accounts.authenticate(key), { account, endpoints: undefined, readOnly: true })
        yield* TestClock.adjust("1 millis")
        assert.isUndefined(yield* accounts.authenticate(key))
        assert.strictEqual((yield* accounts.listKeys(account))[0]!.expires, now + 1_000)
      })
    )

    it.effect("ends a key that another process revokes, also where the clock is put back after its last use", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { query } = yield* Database
        const { id: account } = yield* accounts.create("behind")
        const { key } = yield* accounts.createKey(account, { name: "key" })
        assert.isDefined(yield* accounts.authenticate(key))
        yield* query((db) => db.updateTable("api_key").set({ revoked: 1 }).where("account", "=", account))
        yield* TestClock.adjust("1 second")
        const clock = yield* Clock.Clock
        const putBack: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - 3_600_000,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - 3_600_000)
        })
        assert.isUndefined(yield* Effect.provideService(accounts.authenticate(key), Clock.Clock, putBack))
      })
    )

    it.effect("notes the use of a key once an hour", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { id: account } = yield* accounts.create("use")
        const { key } = yield* accounts.createKey(account, { name: "key" })
        const lastUsed = Effect.map(accounts.listKeys(account), ([one]) => one!.lastUsed)
        // Reads of SQLite end at once: the writer has its turn in between.
        const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        const noted = (at: number) => Effect.repeat(Effect.andThen(turn, lastUsed), { until: (found) => found === at })
        assert.isUndefined(yield* lastUsed)
        yield* TestClock.adjust("3 hours")
        const first = yield* Clock.currentTimeMillis
        yield* accounts.authenticate(key)
        yield* noted(first)
        for (let minute = 1; minute < 60; minute++) {
          yield* TestClock.adjust("1 minutes")
          yield* accounts.authenticate(key)
        }
        assert.strictEqual(yield* lastUsed, first)
        yield* TestClock.adjust("1 minutes")
        yield* accounts.authenticate(key)
        yield* noted(first + 3_600_000)
      })
    )

    it.effect("revokes no other account's key", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { id: mine } = yield* accounts.create("mine")
        const { id: theirs } = yield* accounts.create("theirs")
        const { id, key } = yield* accounts.createKey(theirs, { name: "key" })
        assert.strictEqual((yield* Effect.flip(accounts.revokeKey(mine, id)))._tag, "KeyNotFound")
        assert.isDefined(yield* accounts.authenticate(key))
      })
    )

    it.effect("keeps nothing that a key could be read from", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { read } = yield* Database
        const { id: account } = yield* accounts.create("secret")
        const { key } = yield* accounts.createKey(account, { name: "key" })
        const rows = yield* read((db) => db.selectFrom("api_key").selectAll().where("account", "=", account))
        const stored = Buffer.concat(rows.map(({ hash, name }) => Buffer.concat([hash, Buffer.from(name)])))
        assert.isFalse(stored.includes(Redacted.value(key).slice(3)))
        assert.isFalse(stored.includes(Buffer.from(Redacted.value(key).slice(3), "base64url")))
        assert.isFalse(String(key).includes(Redacted.value(key)))
      })
    )
  })
}
