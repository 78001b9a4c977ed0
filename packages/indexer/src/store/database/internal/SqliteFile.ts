/** The file of a SQLite store, and the connection that reads the file beside the writer's. */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { type CompiledQuery, type Kysely, sql } from "kysely"
import { DatabaseError } from "../DatabaseError.ts"
import { fileItself } from "../Location.ts"
import type { Tables } from "../Tables.ts"
import * as Connection from "./Connection.ts"
import { SqliteReader, SqliteReaderDialect } from "./SqliteReader.ts"
import { pragmas, type SqliteOptions } from "./sqlitePragmas.ts"

/** Readable for its owner alone: the file holds secrets of subscriptions. SQLite gives its other files the same mode. */
const ownerOnly = 0o600

/** The `user_version` of a copy that no program has opened yet. */
export const copyMark = 0x68_77_63_70
/** Where SQLite has the `user_version` in a file. */
const versionAt = 60

/** The file's `user_version`; undefined where the file is empty. */
const versionOf = (file: string): number | undefined => {
  const descriptor = openSync(file, "a+", ownerOnly)
  const version = Buffer.alloc(4)
  try {
    return readSync(descriptor, version, 0, version.length, versionAt) === 0 ? undefined : version.readUInt32BE()
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes a file where there is none; what an operator has made stays as it is. Says whether the file is a copy that no program
 * has opened yet. Such a copy has no log, and neither has a new file: one beside it is of the file whose place it took. SQLite
 * would take that file's pages for the copy's, and would delete the log beside a new file.
 */
export const make = (file: string): Effect.Effect<boolean, DatabaseError> =>
  Effect.try({
    try: () => {
      const version = versionOf(file)
      if (version !== undefined && version !== copyMark) return false
      const log = `${fileItself(file)}-wal`
      if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
        throw new Error(
          version === undefined
            ? `${log} is there without its file, whose newest changes it has: put both where they were, or remove the log`
            : `${file} is a copy, and ${log} belongs to the file whose place it took: remove that and ${log.replace(/wal$/, "shm")}`
        )
      }
      return version === copyMark
    },
    catch: (cause) => new DatabaseError({ cause })
  })

/**
 * From now on a log beside the file is its own. The file itself has the mark no more before the log has anything else: where
 * another process keeps it from that, the file is not opened.
 */
export const takeMarkOff = Effect.fnUntraced(function* (writer: Kysely<Tables>) {
  const run = (statement: string) =>
    Connection.attempt(() => sql.raw<{ readonly busy?: number }>(statement).execute(writer))
  yield* run("pragma user_version = 0")
  const { rows } = yield* run("pragma wal_checkpoint(truncate)")
  if (rows[0]?.busy !== 0) return yield* new DatabaseError({ cause: new Error("another process has the file open") })
})

/** Which file a name leads to; undefined where none does. */
const leadsTo = (name: string) => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/**
 * An effect that fails once a file that is open now, or the log beside it, is no longer at its name. SQLite goes on without a
 * word with what was moved, replaced or removed, and what it writes there ends with the process.
 */
export const inPlace = (file: string): Effect.Effect<Effect.Effect<void, DatabaseError>> =>
  Effect.sync(() => {
    const opened = [file, `${fileItself(file)}-wal`].map((name) => ({ name, file: leadsTo(name) }))
    return Effect.try({
      try: () => {
        const foreign = opened.find(({ file, name }) => leadsTo(name) !== file)
        if (foreign === undefined) return
        throw new Error(
          `${foreign.name} is not the file that this process has open, but was moved, replaced or removed meanwhile: what ` +
            "is written now may be lost. Put the file back; where that cannot be, stop this process by SIGTERM, and start again"
        )
      },
      catch: (cause) => new DatabaseError({ cause })
    })
  })

const connect = (options: SqliteOptions, readonly: boolean) => {
  const database = new BetterSqlite(options.file, { readonly })
  database.pragma("query_only=true")
  for (const pragma of pragmas(options)) if (!/^(journal_mode|page_size)/.test(pragma)) database.pragma(pragma)
  return database
}

const open = Effect.fnUntraced(function* (options: SqliteOptions, readonly: boolean) {
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => connect(options, readonly)),
    (database) => Effect.sync(() => database.close())
  )
  const reader = new SqliteReader(database)
  const db = yield* Connection.open(new SqliteReaderDialect(reader))
  return { db, rowsOf: (query: CompiledQuery): ReadonlyArray<unknown> => reader.rowsOf(query) }
})

/** Reads the file beside a writer. */
export const reader = (options: SqliteOptions) => open(options, true)

/**
 * Reads a file that perhaps nobody else has open, and leaves as many files beside it as there were: those that SQLite makes
 * go with the last connection that may write.
 */
export const visitor = (options: SqliteOptions) =>
  Effect.map(
    Effect.suspend(() => open(options, existsSync(`${fileItself(options.file)}-wal`))),
    ({ db }) => db
  )
