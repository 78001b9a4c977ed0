import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Folder from "../../../../test/Folder.ts"
import { locations } from "../../../../test/Stores.ts"
import { runCommand } from "../RunCommand.ts"
import * as RunningDaemon from "../RunningDaemon.ts"

/** A settings file of this store. */
const configOf = (location: Location) =>
  Effect.map(Folder.scoped, (folder) => {
    const store = location.kind === "sqlite" ? { sqlite: location.file } : { postgres: Redacted.value(location.url) }
    const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
    const config = join(folder, "headwater.json")
    writeFileSync(config, JSON.stringify({ http: { port: 1 }, store, chains }))
    return config
  })

const of = (kind: Location["kind"]) => locations.find(({ name }) => name === kind)

describe("headwater chains", () => {
  it.live.skipIf(of("postgres") === undefined)("lists who follows what, and moves a chain where it is wanted", () =>
    Effect.gen(function* () {
      const location = (yield* of("postgres")!.location) as Location
      const store = yield* Layer.build(Database.layer(location))
      const config = yield* configOf(location)
      const chains = (...args: ReadonlyArray<string>) => runCommand(["chains", ...args, "--config", config])
      for (const name of ["north", "south"]) {
        const daemon = { name, version: "0.1.0", roles: ["follow"], chains: ["ethereum/devnet"] }
        yield* Effect.provide(RunningDaemon.enter(daemon), store)
      }
      const listed = yield* chains("list")
      assert.match(listed.stdout, /^CHAIN .*\nethereum\/devnet {2}north {3}\d{4}-.* -\n$/)

      const moved = yield* chains("move", "ethereum", "devnet", "south", "--json")
      assert.deepInclude(JSON.parse(moved.stdout)[0], { daemon: "north", successor: "south", pinned: "south" })
      const status = yield* runCommand(["status", "--config", config])
      assert.match(status.stdout, /\nnorth {3}0\.1\.0 .* follow +ethereum\/devnet\nsouth {3}0\.1\.0 .* follow +-\n$/)
      const doctor = yield* runCommand(["doctor", "--config", config])
      assert.include(doctor.stdout, "its daemons: north (0.1.0) follows ethereum/devnet; south (0.1.0)")
      const freed = yield* chains("free", "ethereum/devnet", "--json")
      assert.deepInclude(JSON.parse(freed.stdout)[0], { daemon: "north", successor: null, pinned: null })

      const absent = yield* chains("move", "ethereum/devnet", "west")
      assert.strictEqual(absent.code, 1)
      assert.include(absent.stderr, 'No daemon "west" runs that may follow ethereum/devnet: use one of north, south')
      const unknown = yield* chains("move", "bitcoin/mainnet", "north")
      assert.include(unknown.stderr, "No daemon has shared bitcoin/mainnet with others yet")
      const audit = yield* Effect.provideContext(
        Effect.flatMap(Database, ({ query }) =>
          query((db) => db.selectFrom("audit_entry").select(["action", "subject", "detail"]).orderBy("id"))
        ),
        store
      )
      assert.deepStrictEqual(audit, [
        { action: "chain.move", subject: "ethereum/devnet", detail: "south" },
        { action: "chain.free", subject: "ethereum/devnet", detail: null }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("says that a SQLite store has one daemon", () =>
    Effect.gen(function* () {
      const config = yield* configOf((yield* of("sqlite")!.location) as Location)
      const { code, stderr } = yield* runCommand(["chains", "move", "ethereum/devnet", "north", "--config", config])
      assert.strictEqual(code, 1)
      assert.include(stderr, "daemons do so on one PostgreSQL store")
    }).pipe(Effect.scoped)
  )
})
