import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Folder from "../../../../test/Folder.ts"
import { unmigrated } from "../../../../test/Stores.ts"
import { run } from "../Program.ts"
import * as RunningDaemon from "../RunningDaemon.ts"

const [, postgres] = unmigrated

describe("headwater secrets", () => {
  it.live.skipIf(postgres === undefined)("leaves the keys of a file to the daemons that have read it", () =>
    Effect.gen(function* () {
      const store = (yield* postgres!.location as Effect.Effect<Location>) as Extract<Location, { kind: "postgres" }>
      const cwd = yield* Folder.scoped
      const file = join(cwd, "headwater.key")
      const key = randomBytes(32).toString("base64")
      writeFileSync(file, `${key}\n`)
      const config = join(cwd, "headwater.json")
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      writeFileSync(config, JSON.stringify({ store: { postgres: Redacted.value(store.url) }, chains }))
      const secrets = (...args: ReadonlyArray<string>) => run(["secrets", ...args, "--config", config], { cwd })
      yield* Effect.gen(function* () {
        const { query, secrets: box } = yield* Database
        yield* box.prepare
        yield* RunningDaemon.enter({ name: "one", version: "1", roles: ["api"], chains: [] })
        const refused = [yield* secrets("rotate"), yield* secrets("forget", "--yes")]
        for (const { code, stderr } of refused) {
          assert.strictEqual(code, 1, stderr)
          assert.match(stderr, /The store is in use by the daemons one: stop each of them first/)
        }
        // What the daemon encrypts at this moment, somebody has a key for.
        const text = yield* box.seal("secret", "owner")
        assert.strictEqual(readFileSync(file, "utf8"), `${key}\n`)
        assert.strictEqual(yield* box.open(text, "owner"), "secret")
        yield* query((db) => db.deleteFrom("daemon"))
      }).pipe(Effect.scoped, Effect.provide(Database.layer({ ...store, secretKeys: Redacted.make(key) })))
      const beside = yield* Effect.scoped(
        Effect.andThen(
          StoreLock.hold(`${file}.lock`, "held"),
          Effect.all([secrets("rotate"), secrets("forget", "--yes")])
        )
      )
      for (const { stderr } of beside)
        assert.include(stderr, "Another headwater secrets changes headwater.key at this moment")
      assert.strictEqual(readFileSync(file, "utf8"), `${key}\n`)
      // A daemon that has read the file before the new key, and tells of itself after.
      const late = yield* Effect.gen(function* () {
        const { lockRows, query, transaction } = yield* Database
        const begun = yield* transaction(
          Effect.gen(function* () {
            yield* lockRows((db) => db.selectFrom("store_format").select("id"))
            const begun = yield* Effect.forkChild(secrets("rotate"))
            while (readFileSync(file, "utf8") === `${key}\n`) yield* Effect.sleep("20 millis")
            yield* RunningDaemon.enter({ name: "late", version: "1", roles: ["api"], chains: [] })
            return begun
          })
        )
        const late = yield* Fiber.join(begun)
        yield* query((db) => db.deleteFrom("daemon"))
        return late
      }).pipe(Effect.scoped, Effect.provide(Database.layer({ ...store, secretKeys: Redacted.make(key) })))
      assert.match(late.stderr, /The store is in use by the daemons late: stop each of them first/)
      assert.include(readFileSync(file, "utf8"), key)
      const rotated = yield* secrets("rotate")
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      assert.notInclude(readFileSync(file, "utf8"), key)
    }).pipe(Effect.scoped)
  )
})
