import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as WalFlush from "@headwater/indexer/store/database/internal/WalFlush"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { unmigrated } from "../../../../../test/Stores.ts"

const sqlite = unmigrated[0]!.location

describe("A flush of a SQLite store", () => {
  it.live("finds every commit in the file and its log", () =>
    Effect.gen(function* () {
      const location = (yield* sqlite) as Location & { readonly file: string }
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-flush-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const copy = join(folder, "store.db")
      yield* Effect.gen(function* () {
        const { flush } = yield* Database
        const { create } = yield* Accounts
        const names = Array.from({ length: 50 }, (_, i) => `account ${i}`)
        yield* Effect.forEach(names, (name) => Effect.andThen(create(name), flush), { concurrency: "unbounded" })
        for (const end of ["", "-wal"]) copyFileSync(`${location.file}${end}`, `${copy}${end}`)
      }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provideMerge(Database.layer(location)))))
      const restored = Database.layer({ kind: "sqlite", file: copy })
      const accounts = yield* Effect.flatMap(Accounts, ({ list }) => list).pipe(
        Effect.provide(Accounts.layer.pipe(Layer.provide(restored)))
      )
      assert.lengthOf(accounts, 50)
    }).pipe(Effect.scoped)
  )

  it.live("is shared by those that ask at once, and covers whatever was committed before each asked", () =>
    Effect.gen(function* () {
      let begun = 0
      const flush = WalFlush.make(
        Effect.suspend(() => {
          begun++
          return Effect.sleep("20 millis")
        })
      )
      const first = yield* Effect.forkChild(flush)
      yield* Effect.sleep("5 millis")
      yield* Effect.all(
        Array.from({ length: 100 }, () => flush),
        { concurrency: "unbounded" }
      )
      yield* Fiber.join(first)
      // Those that came while the first was under way had to wait for another one.
      assert.strictEqual(begun, 2)
    })
  )

  it.live("is nothing where the settings ask for none, and fails where the log is not there", () =>
    Effect.gen(function* () {
      const { file } = (yield* sqlite) as { readonly file: string }
      const flush = Effect.flatMap(Database, ({ flush }) =>
        Effect.andThen(
          Effect.sync(() => rmSync(`${file}-wal`)),
          flush
        )
      )
      const on = (location: Location) => Effect.exit(Effect.provide(flush, Database.layer(location)))
      assert.isTrue(Exit.isSuccess(yield* on({ kind: "sqlite", file, synchronous: "normal" })))
      assert.isTrue(Exit.isFailure(yield* on({ kind: "sqlite", file })))
    }).pipe(Effect.scoped)
  )
})
