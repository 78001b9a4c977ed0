import { assert, describe, it } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"

const anna: AuditLog.Actor = { user: "anna", role: "support", from: "192.0.2.1" }
const actions = (page: Effect.Success<ReturnType<typeof AuditLog.read>>) => page.items.map(({ subject }) => subject)

for (const store of takenStores(import.meta.url)) {
  describe(`AuditLog on ${store.name}`, () => {
    it.effect("enters a deed with its change or not at all, and gives pages of them, the newest first", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const insert = (name: string) => query((db) => db.insertInto("account").values({ name, created: 1 }))
        for (let i = 0; i < 51; i++) {
          yield* AuditLog.during(anna, { action: "account.create", subject: `${i}`, account: `${i}` }, insert(`${i}`))
        }
        const twice = AuditLog.during(anna, { action: "account.create", subject: "twice" }, insert("0"))
        assert.isTrue((yield* Effect.flip(twice)).duplicate)
        yield* AuditLog.write(AuditLog.commandLine, { action: "key.create", subject: "a\0b".repeat(200), account: "7" })
        const first = yield* AuditLog.read({})
        assert.strictEqual(first.items.length, 50)
        assert.deepInclude(first.items[0], { user: "command line", subject: "ab".repeat(200).slice(0, 300), count: 1 })
        assert.deepStrictEqual(actions(first).slice(1, 3), ["50", "49"])
        const second = yield* AuditLog.read({ before: first.next! })
        assert.deepStrictEqual([actions(second), second.next], [["1", "0"], null])
        assert.strictEqual((yield* AuditLog.read({ account: "7" })).items.length, 2)
        assert.deepStrictEqual(actions(yield* AuditLog.read({ account: "7", user: "anna" })), ["7"])
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("counts what is counted as one entry an hour, and forgets entries after a year", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("10 hours")
        const failed = { action: "login", subject: "bob", outcome: "failed" as const }
        const bob = { user: "bob", role: "none", from: "192.0.2.2" }
        yield* AuditLog.count(bob, failed, 3)
        yield* AuditLog.count({ ...bob, from: "192.0.2.3" }, failed, 4)
        yield* TestClock.adjust("1 hour")
        yield* AuditLog.count(bob, failed, 1)
        const { items } = yield* AuditLog.read({ user: "bob" })
        assert.deepStrictEqual(
          items.map(({ count, from }) => [count, from]),
          [
            [1, "192.0.2.2"],
            [7, "192.0.2.3"]
          ]
        )
        yield* TestClock.adjust("367 days")
        yield* AuditLog.write(anna, { action: "logout", subject: "anna" })
        yield* AuditLog.prune
        assert.deepStrictEqual(actions(yield* AuditLog.read({})), ["anna"])
      }).pipe(Effect.provide(store.layer))
    )
  })
}
