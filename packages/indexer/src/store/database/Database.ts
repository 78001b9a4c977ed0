/**
 * Access to the store. Queries are written with Kysely; effects decide when they run and which of them share a
 * transaction. The same code runs on SQLite (one writer thread, readers of their own) and on PostgreSQL.
 */
import { closeSync, openSync } from "node:fs"
import BetterSqlite from "better-sqlite3"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import {
  CompiledQuery,
  type ControlledTransaction,
  type Dialect,
  type Insertable,
  Kysely,
  PostgresDialect,
  sql
} from "kysely"
import * as Migrations from "./internal/Migrations.ts"
import { SqliteReaderDialect } from "./internal/SqliteReader.ts"
import { InPlace, SqliteThreadDialect } from "./internal/SqliteThread.ts"
import type { Statement } from "./internal/SqliteThread.worker.ts"
import { pragmas } from "./internal/sqlitePragmas.ts"
import type { Tables } from "./Tables.ts"

/** A statement or a connection failed. */
export class DatabaseError extends Schema.TaggedError<DatabaseError>()("DatabaseError", { cause: Schema.Defect() }) {
  override get message() {
    if (!(this.cause instanceof Error)) return String(this.cause)
    // Where a host has several addresses, the error of all of them has a code but no message.
    return this.cause.message || String((this.cause as { readonly code?: string }).code)
  }
  /** Whether a unique or primary key was violated. */
  get duplicate(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "23505" || code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY"
  }
  /** Whether the PostgreSQL server was not to be reached, was starting or stopping, or had no connection left. */
  get unavailable(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === undefined ? connectionLost.test(this.message) : /^(E(?!RR_)[A-Z_]+|53300|57P0[123])$/.test(code)
  }
}

/** What `pg` says of a connection that ended without a word of the server, and of one that had ended before. */
const connectionLost = /^(Connection terminated|Client has encountered a connection error)/

/** Where the store is kept. */
export type Location =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted; readonly connections: number }

/** Whether a PostgreSQL server that is not up yet is waited for when the store is opened: by the daemon alone. */
export const WaitForServer = Context.Reference<boolean>("@headwater/indexer/store/database/Database/WaitForServer", {
  defaultValue: () => false
})

type Build<A> = (db: Kysely<Tables>) => { execute(): Promise<A> }
type BuildWrite = (db: Kysely<Tables>) => { execute(): Promise<unknown>; compile(): CompiledQuery }

export class Database extends Context.Service<
  Database,
  {
    readonly dialect: Location["kind"]
    /** Runs one query in the surrounding transaction, else on its own. */
    readonly query: <A>(build: Build<A>) => Effect.Effect<A, DatabaseError>
    /** As `query`, for statements that only read: outside a transaction they do not wait for the writer. */
    readonly read: <A>(build: Build<A>) => Effect.Effect<A, DatabaseError>
    /**
     * As `query`, for a statement whose answer nobody needs. In a transaction on SQLite it goes to the store with the
     * next statement whose answer somebody does, or with the commit: that is where its failure shows.
     */
    readonly write: (build: BuildWrite) => Effect.Effect<void, DatabaseError>
    /** Runs `self` in one transaction, which commits if it succeeds; inside another one it joins that. */
    readonly transaction: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | DatabaseError, R>
    /**
     * Inserts rows in bulk, as `write` does. All rows must have the same keys; `conflict` is an `on conflict …` clause.
     */
    readonly insertMany: <T extends keyof Tables & string>(
      table: T,
      rows: ReadonlyArray<Insertable<Tables[T]>>,
      conflict?: string
    ) => Effect.Effect<void, DatabaseError>
    /** SQLite only: runs one statement for each row of parameters in one message; all rows that they return. */
    readonly each: <A>(
      statement: string,
      rows: ReadonlyArray<ReadonlyArray<unknown>>
    ) => Effect.Effect<ReadonlyArray<A>, DatabaseError>
    /** SQLite only: as `each`, for a statement that returns nothing, and as `write` does. */
    readonly writeEach: (
      statement: string,
      rows: ReadonlyArray<ReadonlyArray<unknown>>
    ) => Effect.Effect<void, DatabaseError>
    /**
     * SQLite only: runs statements, each for its rows of parameters, in a transaction of their own and in one message;
     * what each row gave. Where one gives nothing, nothing is done and the answer is empty.
     */
    readonly steps: (
      steps: ReadonlyArray<{ readonly sql: string; readonly rows: ReadonlyArray<ReadonlyArray<unknown>> }>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, DatabaseError>
  }
>()("@headwater/indexer/store/database/Database") {
  /** Opens the store and brings its schema up to date. */
  static readonly layer = (location: Location) => Layer.effect(Database, make(location))
}

/** The open transaction of the current fiber, if there is one. */
const Current = Context.Reference<ControlledTransaction<Tables> | undefined>(
  "@headwater/indexer/store/database/Database/Current",
  {
    defaultValue: () => undefined
  }
)

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => {
      // PostgreSQL repeats a row's values there, which a log may not hold: extended public keys, callback secrets.
      if (cause instanceof Error) Reflect.deleteProperty(cause, "detail")
      return new DatabaseError({ cause })
    }
  })

const open = (dialect: Dialect) =>
  Effect.acquireRelease(
    Effect.sync(() => new Kysely<Tables>({ dialect })),
    (db) => Effect.promise(() => db.destroy())
  )

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
  // An error without a listener ends the process: the pool tells of connections that nobody uses, the others themselves.
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  // Of a connection that the server ends, the failed statement's answer comes before the end: until then it looks sound.
  pool.on("release", (_, client) => {
    if ((client as { readonly readyForQuery?: boolean }).readyForQuery === false) client.end(() => {})
  })
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
    return open(new SqliteReaderDialect(database))
  })

/** Waits between attempts to reach the server: doubling from half a second, at most ten seconds. */
const reconnects = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("10 seconds")])
/** Of the failed attempts, the first has a line in the log, and then one in so many. */
const loggedAttempts = 30

/** Tries until the server is there. An error that waiting does not mend, as of a wrong password, fails at once. */
const whenAvailable = <A>(self: Effect.Effect<A, DatabaseError>) => {
  let attempts = 0
  return self.pipe(
    Effect.tapError(({ message, unavailable }) =>
      unavailable && attempts++ % loggedAttempts === 0
        ? Effect.logWarning(`Waiting for PostgreSQL (store.postgres): ${message}`)
        : Effect.void
    ),
    Effect.retry({ schedule: reconnects, while: ({ unavailable }) => unavailable })
  )
}

/** A statement that only the SQLite thread knows how to run. */
const inPlace = <A>(statement: Statement, later?: boolean): CompiledQuery<A> =>
  CompiledQuery.raw("", [new InPlace(statement, later)])

/** Bind parameters of one PostgreSQL statement are counted in 16 bits. */
const postgresParameters = 65_535

const make = Effect.fnUntraced(function* (location: Location) {
  const dialect = location.kind
  if (location.kind === "sqlite") yield* makeFile(location.file)
  const writer = yield* open(
    location.kind === "sqlite"
      ? new SqliteThreadDialect(location.file)
      : yield* Effect.promise(() => postgres(location))
  )
  const migrated = attempt(() => Migrations.run(writer, dialect))
  yield* (yield* WaitForServer) ? whenAvailable(migrated) : migrated
  const reader = location.kind === "sqlite" ? yield* sqliteReader(location.file) : writer

  const on =
    (db: Kysely<Tables>): Database["Service"]["query"] =>
    (build) =>
      Effect.flatMap(Current, (transaction) => attempt(() => build(transaction ?? db).execute()))
  const query = on(writer)

  const transaction: Database["Service"]["transaction"] = (self) =>
    Effect.flatMap(Current, (current) =>
      current !== undefined
        ? self
        : Effect.acquireUseRelease(
            attempt(() => writer.startTransaction().execute()),
            (transaction) => Effect.provideService(self, Current, transaction),
            (transaction, exit) => {
              const rollback = attempt(() => transaction.rollback().execute())
              return Exit.isSuccess(exit)
                ? // What was put off may fail only now; the connection must be free again whatever happens.
                  attempt(() => transaction.commit().execute()).pipe(Effect.tapError(() => Effect.ignore(rollback)))
                : rollback
            }
          )
    )

  /** In a transaction on SQLite `later`, else `now`. */
  const putOff = (later: (db: Kysely<Tables>) => Statement, now: Effect.Effect<unknown, DatabaseError>) =>
    Effect.flatMap(Current, (transaction) =>
      dialect === "sqlite" && transaction !== undefined
        ? attempt(() => transaction.executeQuery(inPlace(later(transaction), true)))
        : now
    ).pipe(Effect.asVoid)

  const write: Database["Service"]["write"] = (build) =>
    putOff((db) => {
      const { parameters, sql } = build(db).compile()
      return { sql, parameters }
    }, query(build))

  const each: Database["Service"]["each"] = <A>(statement: string, rows: ReadonlyArray<ReadonlyArray<unknown>>) =>
    rows.length === 0
      ? Effect.succeed([])
      : query((db) => ({
          execute: async () => (await db.executeQuery<A>(inPlace({ sql: statement, rows }))).rows
        }))

  const writeEach: Database["Service"]["writeEach"] = (sql, rows) =>
    rows.length === 0 ? Effect.void : putOff(() => ({ sql, rows }), each(sql, rows))

  const steps: Database["Service"]["steps"] = (steps) =>
    Effect.map(
      attempt(() => writer.executeQuery(inPlace<ReadonlyArray<unknown>>({ steps }))),
      ({ rows }) => rows
    )

  const insertMany: Database["Service"]["insertMany"] = (table, rows, conflict = "") => {
    const [first] = rows
    if (first === undefined) return Effect.void
    const columns = Object.keys(first)
    if (dialect === "sqlite") {
      const names = columns.map((column) => `"${column}"`).join(", ")
      const marks = columns.map(() => "?").join(", ")
      const values = rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column] ?? null))
      return writeEach(`insert into "${table}" (${names}) values (${marks}) ${conflict}`, values)
    }
    const size = Math.floor(postgresParameters / columns.length)
    const chunks = Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
    return Effect.forEach(
      chunks,
      (chunk) =>
        query((db) =>
          db
            .insertInto(table)
            .values(chunk as never)
            .modifyEnd(sql.raw(conflict))
        ),
      {
        discard: true
      }
    )
  }

  return Database.of({ dialect, query, read: on(reader), write, transaction, insertMany, each, writeEach, steps })
})
