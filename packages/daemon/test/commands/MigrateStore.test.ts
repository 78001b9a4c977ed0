import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Folder from "../../../../test/Folder.ts"
import * as Released from "../../../indexer/test/store/database/Released.ts"
import { unmigrated } from "../../../../test/Stores.ts"
import { run } from "../Program.ts"
import { runCommand } from "../RunCommand.ts"

const [sqlite, postgres] = unmigrated

const settingsIn = (folder: string, name: string, store: object) => {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ store, chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } } }))
  return file
}

describe("headwater migrate-store", () => {
  it.live.skipIf(postgres === undefined)("takes the key of callback secrets along, and can be taken back", () =>
    Effect.gen(function* () {
      const from = (yield* sqlite!.location) as Extract<Location, { kind: "sqlite" }>
      const to = (yield* postgres!.location as Effect.Effect<Location>) as Extract<Location, { kind: "postgres" }>
      yield* Effect.flatMap(Database, ({ secrets }) => secrets.prepare).pipe(Effect.provide(Database.layer(from)))
      const cwd = yield* Folder.scoped
      const config = settingsIn(cwd, "old.json", { sqlite: from.file })
      const target = settingsIn(cwd, "new.json", { postgres: Redacted.value(to.url) })
      const moved = yield* run(["migrate-store", "--config", config, "--to", target, "--finish"], { cwd })
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.match(
        moved.stdout,
        /^The store is moved: \d+ rows of \d+ tables, each compared; .* The stop took \d+\.\d s\.$/m
      )
      assert.match(moved.stderr, /The key of callback secrets was copied to headwater\.key, which the daemon looks for/)
      const key = join(cwd, "headwater.key")
      assert.strictEqual(readFileSync(key, "utf8"), readFileSync(`${from.file}.key`, "utf8"))
      assert.strictEqual(statSync(key).mode & 0o777, 0o600)

      const refused = yield* runCommand(["upgrade", "--check", "--config", config])
      assert.match(refused.stdout, /OBSTACLE It was moved to PostgreSQL by headwater migrate-store/)
      const unconfirmed = yield* runCommand(["migrate-store", "--cancel", "--config", config])
      assert.strictEqual(unconfirmed.code, 1)
      assert.match(unconfirmed.stderr, /is sent again from there\. Add --yes/)
      const cancelled = yield* runCommand(["migrate-store", "--cancel", "--yes", "--config", config])
      assert.match(cancelled.stdout, /^The SQLite file is a store again, with another epoch/)
      assert.strictEqual((yield* runCommand(["accounts", "list", "--config", config])).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(postgres === undefined)("says where the end was interrupted that neither is a store", () =>
    Effect.gen(function* () {
      const from = (yield* sqlite!.location) as Extract<Location, { kind: "sqlite" }>
      const to = (yield* postgres!.location as Effect.Effect<Location>) as Extract<Location, { kind: "postgres" }>
      yield* Effect.provide(StoreEpoch.current, Database.layer(from))
      const cwd = yield* Folder.scoped
      const settings = ["--config", settingsIn(cwd, "old.json", { sqlite: from.file })]
      const target = settingsIn(cwd, "new.json", { postgres: Redacted.value(to.url) })
      const move = (...flags: ReadonlyArray<string>) =>
        run(["migrate-store", ...settings, "--to", target, ...flags], { cwd })
      assert.include((yield* move()).stdout, "the SQLite file is still the store")
      yield* Released.execute(
        to,
        `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'killed here'; end $$;
         create trigger refusing before update on store_format execute function refuse()`
      )
      assert.include((yield* move("--finish")).stderr, "killed here")
      assert.match(
        (yield* move()).stdout,
        /The end of the move was interrupted: neither is a store until .* --finish$/m
      )
      yield* Released.execute(to, "drop trigger refusing on store_format; drop function refuse")
      assert.strictEqual((yield* move("--finish")).code, 0)

      // As where the command is killed behind the end, and is run again.
      const again = yield* move("--finish")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.match(again.stdout, /^The store was moved already: start the daemon with the new settings$/m)
      assert.deepStrictEqual(JSON.parse((yield* move("--finish", "--json")).stdout), { finished: true })
      assert.strictEqual((yield* move()).code, 1)
      yield* Effect.provide(StoreEpoch.renew, Database.layer(to))
      const elsewhere = yield* move("--finish")
      assert.strictEqual(elsewhere.code, 1)
      assert.match(elsewhere.stderr, /moved already, as it seems to another database/)
    }).pipe(Effect.scoped)
  )

  it.live("says which settings it needs", () =>
    Effect.gen(function* () {
      const config = settingsIn(yield* Folder.scoped, "old.json", { sqlite: "none.db" })
      const without = yield* runCommand(["migrate-store", "--config", config])
      assert.strictEqual(without.code, 1)
      assert.match(without.stderr, /--to must name the settings file .* with store\.postgres/)
      const wrong = yield* runCommand(["migrate-store", "--config", config, "--to", config])
      assert.match(wrong.stderr, /The new settings must name a database in store\.postgres/)
    }).pipe(Effect.scoped)
  )
})
