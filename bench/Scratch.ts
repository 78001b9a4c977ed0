/** A folder, a database server and a store of a bench's own, which end with the scope. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as PostgresServer from "../test/PostgresServer.ts"

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-bench-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Undefined where PostgreSQL is not installed. */
export const postgres = Effect.acquireRelease(
  Effect.promise(() => PostgresServer.start()),
  (server) => Effect.sync(() => server?.remove())
)

/** A file of SQLite, or else a database of PostgreSQL. */
export const location = Effect.fnUntraced(function* (store: string) {
  if (store === "sqlite") return { kind: "sqlite", file: join(yield* folder, "store.db") } as const
  const server = yield* postgres
  if (server === undefined) return yield* Effect.die("PostgreSQL is not installed")
  return { kind: "postgres", url: Redacted.make(server.url), connections: 10 } as const
})
