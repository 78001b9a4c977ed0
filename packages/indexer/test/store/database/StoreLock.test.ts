import { spawnSync } from "node:child_process"
import { symlinkSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { unmigrated } from "../../../../../test/Stores.ts"

const held = (location: Location) => Effect.scoped(StoreLock.acquire(location))

describe("StoreLock", () => {
  it.live("lets one in at a time, and the next once that one has left", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const store: Location = yield* location
      yield* Effect.gen(function* () {
        yield* StoreLock.acquire(store)
        const error = yield* Effect.flip(held(store))
        assert.match(error.message, /store\.db is in use by another headwater/)
      }).pipe(Effect.scoped)
      yield* held(store)
      const nowhere = yield* Effect.flip(held({ kind: "sqlite", file: "/nowhere/store.db" }))
      assert.match(nowhere.message, /^Cannot lock the store by \/nowhere\/store\.db\.lock: /)
      assert.strictEqual(nowhere._tag, "DatabaseError", "nobody has a store that is not there")
    }).pipe(Effect.scoped)
  )

  it.live("is taken on a full disk too: the daemon says then what it lacks, and goes on once there is room", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const store: Location = yield* location
      const modules = ["@headwater/indexer/store/database/StoreLock", "effect/Effect"].map((name) =>
        import.meta.resolve(name)
      )
      const script = `
        import * as StoreLock from ${JSON.stringify(modules[0])}
        import * as Effect from ${JSON.stringify(modules[1])}
        await Effect.runPromise(Effect.scoped(StoreLock.acquire(${JSON.stringify(store)})))
        process.stdout.write("held")`
      // No file may grow, which a process is told as it is told of a full disk.
      const { stderr, stdout } = spawnSync(
        "sh",
        ["-c", 'ulimit -f 0; exec "$0" "$@"', process.execPath, "--input-type=module", "--eval", script],
        { encoding: "utf8" }
      )
      assert.strictEqual(stdout, "held", stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is one for all names that lead to the file", () =>
    Effect.gen(function* () {
      const [{ location }] = unmigrated as [(typeof unmigrated)[number]]
      const store = (yield* location) as Extract<Location, { kind: "sqlite" }>
      writeFileSync(store.file, "")
      symlinkSync(store.file, `${store.file}.link`)
      yield* StoreLock.acquire(store)
      const error = yield* Effect.flip(held({ ...store, file: `${store.file}.link` }))
      assert.strictEqual(error._tag, "StoreInUse")
    }).pipe(Effect.scoped)
  )

  it.live("lets everybody share PostgreSQL", () =>
    Effect.gen(function* () {
      const store: Location = { kind: "postgres", url: Redacted.make("postgres://nowhere"), connections: 1 }
      yield* StoreLock.acquire(store)
      yield* StoreLock.acquire(store)
    }).pipe(Effect.scoped)
  )
})
