/** The file of a SQLite store, and the connection that reads the file beside the writer's. */
import { randomUUID } from "node:crypto"
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { dirname } from "node:path"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import type { CompiledQuery } from "kysely"
import { DatabaseError } from "../DatabaseError.ts"
import * as StoreFile from "../StoreFile.ts"
import * as Connection from "./Connection.ts"
import { SqliteReader, SqliteReaderDialect } from "./SqliteReader.ts"
import { pageSize, pragmas, type SqliteOptions } from "./sqlitePragmas.ts"

/** Readable for its owner alone: the file holds secrets of subscriptions. SQLite gives its other files the same mode. */
const ownerOnly = 0o600

/** The `user_version` of a copy that no program has opened yet, and where SQLite has that in a file. */
export const copyMark = 0x68_77_63_70
const versionAt = 60

/** The file's `user_version`; undefined where the file is empty, or not there. */
const versionOf = (file: string): number | undefined => {
  if (!existsSync(file)) return undefined
  const descriptor = openSync(file, "r")
  const version = Buffer.alloc(4)
  try {
    return readSync(descriptor, version, 0, version.length, versionAt) === 0 ? undefined : version.readUInt32BE()
  } finally {
    closeSync(descriptor)
  }
}

/** Past SQLite, which has not opened the file yet: a statement's change would stand in the log first, beside a file with the mark. */
const takeMarkOff = (file: string) => {
  const descriptor = openSync(file, "r+")
  try {
    writeSync(descriptor, Buffer.alloc(4), 0, 4, versionAt)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether the file is a copy that no program has opened yet. Such a copy has no log, and neither has an empty file: one beside
 * it is of the file whose place it took, and this fails. SQLite would take that file's pages for the copy's, and would delete
 * the log beside an empty file.
 */
const isNewCopy = (file: string): boolean => {
  const version = versionOf(file)
  if (version !== undefined && version !== copyMark) return false
  const log = StoreFile.logOf(file)
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new Error(
      version === undefined
        ? `${log} is there without its file, whose newest changes it has: put both where they were, or remove the log`
        : `${file} is a copy, and ${log} belongs to the file whose place it took: remove that and ${log.replace(/wal$/, "shm")}`
    )
  }
  return version === copyMark
}

/** Runs what SQLite, or the disk, does at once. */
export const attempt = <A>(run: () => A): Effect.Effect<A, DatabaseError> =>
  Effect.try({ try: run, catch: (cause) => new DatabaseError({ cause }) })

/** Fails where the log beside the file is another one's: nobody may read the two as one store. */
export const checkLog = (file: string): Effect.Effect<void, DatabaseError> =>
  Effect.asVoid(attempt(() => isNewCopy(file)))

/**
 * Fails where an empty file stands beside the key of a store, which is made in a store that has content: a full disk, or a
 * restore that was broken off, has left the file so. A new store in the file would know nothing of anybody's subscriptions.
 */
export const checkContent = (file: string, key: string): Effect.Effect<void, DatabaseError> =>
  attempt(() => {
    if (statSync(file, { throwIfNoEntry: false })?.size !== 0 || !existsSync(key)) return
    throw new Error(
      `${file} is empty, while ${key} is of a store that was there: restore a backup. To begin a new store, remove the empty ` +
        "file; where it is mounted by itself, mount its folder in its place, since a store is more than one file"
    )
  })

/** A store without a table: its first page. */
const emptyStore = (): Buffer => {
  const database = new BetterSqlite(":memory:")
  database.pragma(pageSize)
  // SQLite makes no page before there is anything to keep.
  database.pragma("user_version=0")
  const page = database.serialize()
  database.close()
  return page
}

/**
 * Makes a file that is never empty, as a kill or a full disk would leave one: beside a key that would count as a lost store.
 * Left undone where the name is taken meanwhile, or a link that leads nowhere yet, and on a disk without hard links. A kill may
 * leave the draft, a page without a row; nobody removes another's, which may be about to get the name.
 */
const makeWhole = (file: string) => {
  // Not the file's name with more behind it, which may be too long for a name.
  const draft = `${dirname(file)}/new-store-${randomUUID()}`
  try {
    writeFileSync(draft, emptyStore(), { mode: ownerOnly, flush: true })
  } catch (error) {
    rmSync(draft, { force: true })
    throw Object.assign(error as Error, { message: (error as Error).message.replace(draft, file) })
  }
  try {
    linkSync(draft, file)
  } catch {
  } finally {
    rmSync(draft)
  }
}

/**
 * Makes a file where there is none, before a connection that writes is opened; what an operator has made stays as it is. From
 * then on a log beside the file is its own.
 */
export const make = (file: string): Effect.Effect<void, DatabaseError> =>
  attempt(() => {
    // Before the file is made, which is not that of a log that is there.
    const isCopy = isNewCopy(file)
    if (!existsSync(file)) makeWhole(file)
    closeSync(openSync(file, "a", ownerOnly))
    if (isCopy) takeMarkOff(file)
  })

/**
 * An effect that fails once the file that is at its name now, or the log that is beside it at the first run, is no longer there.
 * SQLite goes on without a word with what was moved, replaced or removed, and what it writes there ends with the process. Made
 * before SQLite opens the file, and run once SQLite has made the log.
 */
export const inPlace = (file: string): Effect.Effect<Effect.Effect<void, DatabaseError>> =>
  Effect.sync(() => {
    const log = StoreFile.logOf(file)
    const opened = StoreFile.at(file)
    let ownLog: string | undefined
    const gone = (name: string, remedy: string) =>
      new Error(
        `${name} is not the file that this process has open, but was moved, replaced or removed meanwhile: what is written ` +
          `now may be lost. ${remedy}`
      )
    return attempt(() => {
      if (StoreFile.at(file) !== opened) {
        const remedy = `Put the file back, with its log. To go on with another file, stop this process, remove ${log} and start again`
        throw gone(file, remedy)
      }
      ownLog ??= StoreFile.at(log)
      if (ownLog === undefined || StoreFile.at(log) !== ownLog) {
        throw gone(log, "Stop this process by SIGTERM, which brings all of it into the file, and start again")
      }
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
    Effect.andThen(
      checkLog(options.file),
      Effect.suspend(() => open(options, existsSync(StoreFile.logOf(options.file))))
    ),
    ({ db }) => db
  )
