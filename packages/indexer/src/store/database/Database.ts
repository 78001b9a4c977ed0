/**
 * Access to the store. Queries are written with Kysely; effects decide when they run and which of them share a
 * transaction. The same code runs on SQLite (one writer thread, readers of their own) and on PostgreSQL.
 */
import { closeSync, openSync } from "node:fs"
import BetterSqlite from "better-sqlite3"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { PostgresDialect } from "kysely"
import { DatabaseError } from "./DatabaseError.ts"
import type { Adapter } from "./internal/Adapter.ts"
import * as Connection from "./internal/Connection.ts"
import * as Migrations from "./internal/Migrations.ts"
import * as PostgresAdapter from "./internal/PostgresAdapter.ts"
import * as SqliteAdapter from "./internal/SqliteAdapter.ts"
import { SqliteReaderDialect } from "./internal/SqliteReader.ts"
import { SqliteThreadDialect } from "./internal/SqliteThread.ts"
import { pragmas } from "./internal/sqlitePragmas.ts"
import type { Location } from "./Location.ts"
import * as StoreLock from "./StoreLock.ts"

export { DatabaseError } from "./DatabaseError.ts"
export type { StoreIncomplete, StoreTooNew } from "./internal/Migrations.ts"
export type { Location } from "./Location.ts"
export type { StoreInUse } from "./StoreLock.ts"

export class Database extends Context.Service<
  Database,
  Adapter & {
    /** Runs one query in the surrounding transaction, else on its own. */
    readonly query: <A>(build: Connection.Build<A>) => Effect.Effect<A, DatabaseError>
    /** As `query`, for statements that only read: outside a transaction they do not wait for the writer. */
    readonly read: <A>(build: Connection.Build<A>) => Effect.Effect<A, DatabaseError>
    /**
     * Runs `self` in one transaction, which commits if it succeeds; inside another one it joins that. The database is
     * provided to `self`.
     */
    readonly transaction: <A, E, R>(
      self: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | DatabaseError, Exclude<R, Database>>
  }
>()("@headwater/indexer/store/database/Database") {
  /** Opens the store and brings its schema up to date; on SQLite that fails where another process has the store. */
  static readonly layer = (location: Location) => Layer.effect(Database, make(location))
}

const int8 = 20
const postgres = async (location: Extract<Location, { kind: "postgres" }>) => {
  // Most stores are SQLite files: their programs start without it.
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({
    connectionString: Redacted.value(location.url),
    max: location.connections,
    types: {
      // No integer column holds more than 2^53: amounts are text.
      getTypeParser: ((oid: number, format?: "text" | "binary") =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
    }
  })
  // A connection that breaks while nobody uses it is taken out of the pool; without a listener it would end the process.
  pool.on("error", () => {})
  return new PostgresDialect({ pool })
}

/** Readable for its owner alone: the file holds secrets of subscriptions. SQLite gives its other files the same mode. */
const ownerOnly = 0o600

/** Makes a SQLite file where there is none; what an operator has made stays as it is. */
const makeFile = (file: string) =>
  Effect.try({
    try: () => closeSync(openSync(file, "a", ownerOnly)),
    catch: (cause) => new DatabaseError({ cause })
  })

const sqliteReader = (file: string) =>
  Effect.suspend(() => {
    const database = new BetterSqlite(file, { readonly: true })
    for (const pragma of pragmas) if (!/^(journal_mode|page_size)/.test(pragma)) database.pragma(pragma)
    return Connection.open(new SqliteReaderDialect(database))
  })

const sqlite = Effect.fnUntraced(function* (location: Extract<Location, { kind: "sqlite" }>) {
  const { file } = location
  yield* makeFile(file)
  const writer = yield* Connection.open(new SqliteThreadDialect(file))
  yield* Migrations.run(writer, SqliteAdapter.columnTypes, StoreLock.acquire(location))
  const connection = Connection.make(writer, yield* sqliteReader(file))
  return { ...connection, ...SqliteAdapter.make(connection) }
})

const postgresql = Effect.fnUntraced(function* (location: Extract<Location, { kind: "postgres" }>) {
  const writer = yield* Connection.open(yield* Effect.promise(() => postgres(location)))
  yield* Migrations.run(writer, PostgresAdapter.columnTypes, StoreLock.acquire(location))
  const connection = Connection.make(writer, writer)
  return { ...connection, ...PostgresAdapter.make(connection) }
})

const make = Effect.fnUntraced(function* (location: Location) {
  const {
    transaction,
    writer: _,
    ...rest
  } = location.kind === "sqlite" ? yield* sqlite(location) : yield* postgresql(location)
  const database: Database["Service"] = Database.of({
    ...rest,
    transaction: (self) => transaction(Effect.provideService(self, Database, database))
  })
  return database
})
