/**
 * What this program would do to a store at its next start, read without a change to the store: the migrations that it
 * would run, and how many stored rows each of them goes through.
 */
import { existsSync } from "node:fs"
import { stat, statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Kysely, sql } from "kysely"
import { DatabaseError } from "./DatabaseError.ts"
import * as Connection from "./internal/Connection.ts"
import * as Migrations from "./internal/Migrations.ts"
import * as PostgresAdapter from "./internal/PostgresAdapter.ts"
import * as PostgresHold from "./internal/PostgresHold.ts"
import * as PostgresServer from "./internal/PostgresServer.ts"
import * as SqliteAdapter from "./internal/SqliteAdapter.ts"
import * as SqliteFile from "./internal/SqliteFile.ts"
import type { Location } from "./Location.ts"
import * as StoreFile from "./StoreFile.ts"
import * as SecretKeys from "./SecretKeys.ts"
import * as StoreLock from "./StoreLock.ts"
import type { Tables } from "./Tables.ts"

/** Rows of a table, counted no further than {@link counted}. */
export interface Rows {
  readonly table: string
  readonly rows: number
  /** Whether the table has more. */
  readonly more: boolean
}

interface PendingMigration {
  readonly name: string
  /** Tables with stored rows that the migration goes through while the start waits, to index or rewrite them. */
  readonly atStart: ReadonlyArray<Rows>
  /** Tables whose stored rows are rewritten behind the migration, beside the daemon's work. */
  readonly behind: ReadonlyArray<Rows>
  /** Whether no older program can run on the store afterwards. */
  readonly final: boolean
}

export interface UpgradeReport {
  /** The last migration that was applied; undefined for an empty store. */
  readonly schema: string | undefined
  readonly applied: number
  readonly pending: ReadonlyArray<PendingMigration>
  /** Whether older daemons go on working while this program migrates the store, and behind that. */
  readonly oneByOne: boolean
  /** Why this program may not run on the store, which a newer one has changed; undefined where it may. */
  readonly tooNew: string | undefined
  /** What is left of earlier rewritings. */
  readonly unfinished: ReadonlyArray<string>
  /** Why the callback secrets of the store cannot be read with the keys that there are; undefined where they can. */
  readonly withoutKeys: string | undefined
  /** Bytes of the store, with the log of a SQLite file. */
  readonly bytes: number
  /** Bytes that are free beside a SQLite file. */
  readonly free: number | undefined
  /** The encoding of an empty database, where that lacks characters: no store is made there. */
  readonly incompleteEncoding: string | undefined
  /** Who has the store open: the message of its lock, or the connections to the server's database. */
  readonly inUse: string | undefined
}

/** Rows of a table that are counted at most, since a count reads all of them. */
const counted = 1_000_000

/** What one statement of a migration goes through; undefined where that takes no longer with more rows. */
const work = (statement: string): { readonly table: string; readonly behind: boolean } | undefined => {
  const text = statement.replace(/\s+/g, " ").trim()
  const [, left] = /^insert into background_migration .* from (\w+)/i.exec(text) ?? []
  if (left !== undefined) return { table: left, behind: true }
  const [, table] =
    /^create (?:unique )?index \w+ on (\w+)/i.exec(text) ??
    /^insert into \w+ .* from (\w+)/i.exec(text) ??
    /^alter table (\w+) drop column/i.exec(text) ??
    /^alter table \w+ attach partition (\w+)/i.exec(text) ??
    /^update (?!store_format)(\w+)/i.exec(text) ??
    /^delete from (\w+)/i.exec(text) ??
    []
  return table === undefined ? undefined : { table, behind: false }
}

/** The stored rows of a table; none where the store has no such table, or only a view. */
const rowsOf = Effect.fnUntraced(function* (db: Kysely<Tables>, table: string): Effect.fn.Return<Rows | undefined> {
  const found = yield* Effect.option(
    Connection.attempt(() =>
      sql<{ readonly rows: number }>`
        select count(*) as rows from (select 1 as one from ${sql.table(table)} limit ${sql.lit(counted + 1)}) as found
      `.execute(db)
    )
  )
  const rows = Number(Option.getOrUndefined(found)?.rows[0]?.rows ?? 0)
  return rows === 0 ? undefined : { table, rows: Math.min(rows, counted), more: rows > counted }
})

const look = Effect.fnUntraced(function* (db: Kysely<Tables>, location: Location) {
  const types = location.kind === "sqlite" ? SqliteAdapter.columnTypes : PostgresAdapter.columnTypes
  const names = yield* Migrations.applied(db)
  const format = yield* Effect.result(Migrations.checkFormat(db, names))
  if (Result.isFailure(format) && format.failure._tag === "DatabaseError") return yield* format.failure
  const sizes = new Map<string, Rows | undefined>()
  const pending: Array<PendingMigration> = []
  for (const [name, statements] of yield* Migrations.pending(names, types)) {
    const found = { atStart: new Map<string, Rows>(), behind: new Map<string, Rows>() }
    for (const statement of statements) {
      const through = work(statement)
      if (through === undefined) continue
      if (!sizes.has(through.table)) sizes.set(through.table, yield* rowsOf(db, through.table))
      const rows = sizes.get(through.table)
      if (rows !== undefined) found[through.behind ? "behind" : "atStart"].set(through.table, rows)
    }
    pending.push({
      name,
      atStart: [...found.atStart.values()],
      behind: [...found.behind.values()],
      final: statements.some((statement) => /^update store_format/i.test(statement))
    })
  }
  const unfinished = names.includes("0011_store_format")
    ? yield* Connection.attempt(() => db.selectFrom("background_migration").select("name").execute())
    : []
  return {
    schema: names.toSorted().at(-1),
    applied: names.length,
    pending,
    oneByOne:
      location.kind === "postgres" && pending.every(({ final, name }) => name > Migrations.lastBeforeRolling && !final),
    tooNew: Result.isFailure(format) ? format.failure.message : undefined,
    unfinished: unfinished.map(({ name }) => name),
    withoutKeys: yield* withoutKeys(db, location)
  }
})

/** Compares the keys that the store needs, if the schema has such, with those of the settings or of their file. */
const withoutKeys = Effect.fnUntraced(function* (db: Kysely<Tables>, location: Location) {
  const needed = yield* Effect.option(Connection.attempt(() => db.selectFrom("secret_key").select("id").execute()))
  const missing = Option.getOrElse(needed, () => [])
  if (missing.length === 0) return undefined
  const keys = yield* Effect.result(SecretKeys.read(location))
  if (Result.isFailure(keys)) return keys.failure.message
  const known = new Set(keys.success.map(({ id }) => id))
  return missing.every(({ id }) => known.has(id))
    ? undefined
    : `${SecretKeys.placeOf(location)} lacks a key that callback secrets are encrypted with`
})

/** The message of the store's lock, where somebody holds it. */
const lockOf = (location: Extract<Location, { kind: "sqlite" }>) =>
  existsSync(`${StoreFile.itself(location.file)}.lock`)
    ? StoreLock.acquire(location).pipe(
        Effect.scoped,
        Effect.as(undefined),
        Effect.catchTag("StoreInUse", ({ message }) => Effect.succeed(message))
      )
    : Effect.undefined

const sqlite = Effect.fnUntraced(function* (location: Extract<Location, { kind: "sqlite" }>) {
  const { file } = location
  yield* SqliteFile.checkContent(file, SecretKeys.fileOf(location))
  const { bytes, free } = yield* Effect.tryPromise({
    try: async () => {
      const { bavail, bsize } = await statfs(dirname(resolve(StoreFile.itself(file))))
      // A daemon that was killed has left the newest pages, or all of them, in the log.
      const log = StoreFile.logOf(file)
      const bytes = (await stat(file)).size + (existsSync(log) ? (await stat(log)).size : 0)
      return { bytes, free: bavail * bsize }
    },
    catch: (cause) => new DatabaseError({ cause })
  })
  const db = yield* Effect.catchDefect(SqliteFile.visitor({ file }), (cause) => new DatabaseError({ cause }))
  return { ...(yield* look(db, location)), bytes, free, incompleteEncoding: undefined, inUse: yield* lockOf(location) }
})

/** Connections count that are named as this one is, and those without a name, as daemons of version 0.1 have them. */
const postgres = Effect.fnUntraced(function* (location: Extract<Location, { kind: "postgres" }>) {
  const held = yield* PostgresHold.make(yield* PostgresServer.primary(location.url))
  const db = yield* Connection.open(yield* PostgresServer.dialect(held, 1))
  const { rows } = yield* Connection.attempt(() =>
    sql<{ readonly bytes: number; readonly encoding: string; readonly others: number }>`
      select pg_database_size(current_database()) as bytes, getdatabaseencoding() as encoding,
        (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend' and application_name in (current_setting('application_name'), '')) as others
    `.execute(db)
  )
  const { bytes, encoding, others } = rows[0]!
  const found = yield* look(db, location)
  const isRefused = found.applied === 0 && !PostgresAdapter.completeEncodings.includes(encoding)
  return {
    ...found,
    bytes: Number(bytes),
    free: undefined,
    incompleteEncoding: isRefused ? encoding : undefined,
    inUse:
      Number(others) > 0
        ? `Headwater is connected to the database (${others} ${Number(others) === 1 ? "connection" : "connections"}, counting those without a name)`
        : undefined
  }
})

/** Undefined where there is no store yet: the first start makes one, in no time. */
export const read = Effect.fn("UpgradeReport.read")(function* (
  location: Location
): Effect.fn.Return<UpgradeReport | undefined, DatabaseError> {
  if (location.kind === "postgres") return yield* Effect.scoped(postgres(location))
  return existsSync(location.file) ? yield* Effect.scoped(sqlite(location)) : undefined
})
