/** Stores as releases have left them, and the schema that a store has in the end. */
import { readdirSync, readFileSync } from "node:fs"
import type { Location } from "@headwater/indexer/store/database/Database"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import pg from "pg"

const folder = new URL("./released/", import.meta.url)

/** Whose stores there are: `0.1`. */
export const releases: ReadonlyArray<string> = [
  ...new Set(readdirSync(folder).flatMap((name) => /^(.+)\.(sqlite|postgres)\.sql$/.exec(name)?.[1] ?? []))
]

const onPostgres = <A>(url: Redacted.Redacted, use: (client: pg.Client) => Promise<A>) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: Redacted.value(url) })
    await client.connect()
    try {
      return await use(client)
    } finally {
      await client.end()
    }
  })

const onSqlite = <A>(file: string, use: (db: Sqlite.Database) => A) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Sqlite(file)),
    (db) => Effect.sync(() => use(db)),
    (db) => Effect.sync(() => db.close())
  )

/** Runs statements as they are. */
export const execute = (location: Location, statements: string): Effect.Effect<void> =>
  location.kind === "sqlite"
    ? Effect.asVoid(onSqlite(location.file, (db) => db.exec(statements)))
    : Effect.asVoid(onPostgres(location.url, (client) => client.query(statements)))

/** Makes the store of a release at an empty place. */
export const load = (release: string, location: Location): Effect.Effect<void> =>
  Effect.suspend(() => execute(location, readFileSync(new URL(`${release}.${location.kind}.sql`, folder), "utf8")))

/** Every table, column and index. */
export const schemaOf = (location: Location): Effect.Effect<ReadonlyArray<unknown>> =>
  location.kind === "sqlite"
    ? onSqlite(location.file, (db) => db.prepare("select type, name, sql from sqlite_master order by name").all())
    : onPostgres(location.url, async (client) => {
        const columns = await client.query(
          `select table_name, column_name, data_type, is_nullable, column_default, identity_generation
           from information_schema.columns where table_schema = 'public' order by 1, ordinal_position`
        )
        const indexes = await client.query(
          `select indexdef as definition from pg_indexes where schemaname = 'public'
           union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
           where connamespace = 'public'::regnamespace and contype <> 'n' order by 1`
        )
        return [...columns.rows, ...indexes.rows]
      })
