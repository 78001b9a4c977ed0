/** A store, and a database server, of a bench's own, which end with the scope. */
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Folder from "../test/Folder.ts"
import * as PostgresServer from "../test/PostgresServer.ts"

/** Undefined where PostgreSQL is not installed. */
export const postgres = Effect.acquireRelease(
  Effect.promise(() => PostgresServer.start()),
  (server) => Effect.sync(() => server?.remove())
)

/** A file of SQLite, or else a database of PostgreSQL. */
export const location = Effect.fnUntraced(function* (store: string) {
  if (store === "sqlite") return { kind: "sqlite", file: join(yield* Folder.scoped, "store.db") } as const
  const server = yield* postgres
  if (server === undefined) return yield* Effect.die("PostgreSQL is not installed")
  return { kind: "postgres", url: Redacted.make(server.url), connections: 10 } as const
})
