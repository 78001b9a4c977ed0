import { assert, layer } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { stores } from "../../../../../test/Stores.ts"

for (const store of stores) {
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
        const few = yield* accounts.createKey(account, { name: "few", endpoints: ["list", "get"] })
        assert.match(Redacted.value(all.key), /^hw_[A-Za-z0-9_-]{43}$/)
        assert.notStrictEqual(Redacted.value(all.key), Redacted.value(few.key))
        assert.deepStrictEqual(yield* accounts.authenticate(all.key), { account, endpoints: undefined })
        assert.deepStrictEqual(yield* accounts.authenticate(few.key), { account, endpoints: new Set(["list", "get"]) })
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
            [few.id, "few", ["list", "get"], false]
          ].sort()
        )
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
