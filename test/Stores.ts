/** The stores that tests run on: a fresh SQLite file, and a fresh database of the run's PostgreSQL server. */
import { randomUUID } from "node:crypto"
import { cpSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import pg from "pg"
import * as Folder from "./Folder.ts"
import * as SqliteThreads from "./SqliteThreads.ts"
import { everyWay, turn } from "./Turn.ts"
import * as UsedDatabases from "./UsedDatabases.ts"

/** `template`: the file of a store to begin with. */
const sqlite = (template?: string) =>
  Folder.scoped.pipe(
    Effect.tap((folder) =>
      Effect.sync(() => template === undefined || cpSync(dirname(template), folder, { recursive: true }))
    ),
    Effect.map((folder): Location => ({ kind: "sqlite", file: join(folder, "store.db") }))
  )

const administer = (statement: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await client.connect()
    await client.query(statement)
    await client.end()
  })

const created = (template: string) =>
  Effect.sync(() => `test_${randomUUID().replaceAll("-", "")}`).pipe(
    Effect.tap((name) => administer(`create database ${name} template ${template}`))
  )
const dropped = (name: string) => administer(`drop database ${name} with (force)`)

/** `template`: the name of a database to begin with; a database is used again then. */
const postgres = (template?: string) =>
  Effect.gen(function* () {
    const name = yield* template === undefined
      ? Effect.acquireRelease(created("template1"), dropped)
      : Effect.acquireRelease(UsedDatabases.take(created(template)), (name) => UsedDatabases.giveBack(name, dropped))
    const url = new URL(process.env.DATABASE_URL!)
    url.pathname = `/${name}`
    const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
    return { kind: "postgres", url: Redacted.make(url.href), connections: 5, secretKeys } satisfies Location
  })

const hasPostgres = process.env.DATABASE_URL !== undefined

/** A scoped effect that makes a store and says where it is. */
type Locations = ReadonlyArray<{
  readonly name: Location["kind"]
  readonly location: Effect.Effect<Location, never, Scope.Scope>
}>

/** `file` and `database`: copies of these. */
const make = (file?: string, database?: string): Locations => [
  { name: "sqlite", location: sqlite(file) },
  ...(hasPostgres ? [{ name: "postgres", location: postgres(database) } as const] : [])
]

/** Stores without a table. */
export const unmigrated = make()

/** What `MigratedStores` has made for this run: to give each store its schema anew takes longer than most tests. */
const { HEADWATER_MIGRATED_FILE: file, HEADWATER_MIGRATED_DATABASE: database } = process.env

/** Empty, migrated stores: for tests that start programs of their own. */
export const locations = make(file, database)

/** Files take different stores in the same run. */
const numberOf = (file: string) => [...file].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)

/** One of two, or each with `HEADWATER_EVERY_WAY`. */
const inTurn = <A>(each: ReadonlyArray<A>, file: string): ReadonlyArray<A> =>
  everyWay ? each : [each[(turn + numberOf(basename(file))) % each.length]!]

/**
 * The stores that a test takes, whose file is given: one of them, another one in another run; with `HEADWATER_EVERY_WAY`
 * every one.
 */
export const taken = (file: string): Locations => inTurn(locations, file)

/** As `taken`, stores without a table. */
export const takenUnmigrated = (file: string): Locations => inTurn(unmigrated, file)

/** Each dialect's layer; building it makes a new, empty, migrated store. */
export const stores = locations.map(({ name, location }) => ({
  name,
  layer: Layer.provide(Layer.unwrap(Effect.map(location, Database.layer)), SqliteThreads.layer)
}))

/** As `taken`, layers. */
export const takenStores = (file: string) => inTurn(stores, file)
