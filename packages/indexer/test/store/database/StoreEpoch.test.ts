import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import * as Backup from "@headwater/indexer/store/database/Backup"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { takenUnmigrated, unmigrated } from "../../../../../test/Stores.ts"

const on =
  (location: Location) =>
  <A, E>(self: Effect.Effect<A, E, Database>) =>
    Effect.orDie(Effect.provide(self, Database.layer(location)))

const epochOf = (location: Location) => on(location)(StoreEpoch.current)

const hasPrograms = ["pg_dump", "psql"].every((program) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)))
)

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`The epoch of a store on ${name}`, () => {
    it.live("is given once, whoever asks first, and stays until it is renewed", () =>
      Effect.gen(function* () {
        const store: Location = yield* location
        const asked = on(store)(Effect.all([StoreEpoch.current, StoreEpoch.current], { concurrency: 2 }))
        const epochs = yield* name === "sqlite" ? asked : Effect.all([asked, asked], { concurrency: 2 })
        const [epoch, ...others] = new Set(epochs.flat())
        assert.match(epoch!, /^[0-9a-f]{12}$/)
        assert.lengthOf(others, 0)
        assert.strictEqual(yield* epochOf(store), epoch)
        const renewed = yield* on(store)(StoreEpoch.renew)
        assert.notStrictEqual(renewed, epoch)
        assert.strictEqual(yield* epochOf(store), renewed)
      }).pipe(Effect.scoped)
    )
  })
}

describe("The epoch of a restored store", () => {
  it.live("is another one in each copy of a SQLite file", () =>
    Effect.gen(function* () {
      const store = (yield* unmigrated[0]!.location) as Extract<Location, { kind: "sqlite" }>
      const epoch = yield* epochOf(store)
      const copy = join(dirname(store.file), "copy.db")
      yield* Backup.copy(store.file, copy, () => Effect.void)
      const ofCopy = yield* epochOf({ kind: "sqlite", file: copy })
      assert.notStrictEqual(ofCopy, epoch)
      assert.strictEqual(yield* epochOf({ kind: "sqlite", file: copy }), ofCopy)
      assert.strictEqual(yield* epochOf(store), epoch)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(unmigrated.length < 2 || !hasPrograms)(
    "is another one after a dump of PostgreSQL, in its place too",
    () =>
      Effect.gen(function* () {
        const [store, other] = [yield* unmigrated[1]!.location, yield* unmigrated[1]!.location] as ReadonlyArray<
          Extract<Location, { kind: "postgres" }>
        >
        const epoch = yield* epochOf(store!)
        const url = ({ url }: Extract<Location, { kind: "postgres" }>) => Redacted.value(url)
        const dump = yield* Effect.promise(() =>
          promisify(execFile)("pg_dump", ["--clean", "--if-exists", url(store!)], { maxBuffer: 1e8 })
        )
        const restore = (to: Extract<Location, { kind: "postgres" }>) =>
          Effect.promise(async () => {
            const running = promisify(execFile)("psql", ["-q", "-v", "ON_ERROR_STOP=1", url(to)])
            running.child.stdin!.end(dump.stdout)
            await running
          })
        for (const to of [other!, store!]) {
          yield* restore(to)
          const restored = yield* epochOf(to)
          assert.notStrictEqual(restored, epoch)
          assert.strictEqual(yield* epochOf(to), restored)
        }
      }).pipe(Effect.scoped)
  )
})
