/** The stores that every store test runs on: a fresh SQLite file, and a fresh database of the run's PostgreSQL server. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import pg from "pg"

const sqlite = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-store-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder): Location => ({ kind: "sqlite", file: join(folder, "store.db") })
)

const administer = (statement: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await client.connect()
    await client.query(statement)
    await client.end()
  })

const postgres = Effect.gen(function* () {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(administer(`create database ${name}`), () =>
    administer(`drop database ${name} with (force)`)
  )
  const url = new URL(process.env.DATABASE_URL!)
  url.pathname = `/${name}`
  const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  return { kind: "postgres", url: Redacted.make(url.href), connections: 5, secretKeys } satisfies Location
})

/** A scoped effect that makes an empty store and says where it is: for tests that start programs of their own. */
export const locations: ReadonlyArray<{
  readonly name: Location["kind"]
  readonly location: typeof sqlite | typeof postgres
}> = [
  { name: "sqlite", location: sqlite },
  ...(process.env.DATABASE_URL === undefined ? [] : [{ name: "postgres", location: postgres } as const])
]

/** Each dialect's layer; building it makes a new, empty, migrated store. */
export const stores = locations.map(({ name, location }) => ({
  name,
  layer: Layer.unwrap(Effect.map(location, (location: Location) => Database.layer(location)))
}))
