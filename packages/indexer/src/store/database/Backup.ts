/**
 * Copies of a SQLite store, made by SQLite's own online backup: the state of one moment, while others read and write.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from "node:fs"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as MoveSource from "./internal/MoveSource.ts"
import * as SqliteFile from "./internal/SqliteFile.ts"
import type { Location } from "./Location.ts"
import * as StoreFile from "./StoreFile.ts"

/** No copy was made. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", { message: Schema.String }) {}

/** The file that a store is in. */
export const fileOf = (location: Location): Effect.Effect<string, BackupFailed> =>
  location.kind === "sqlite"
    ? Effect.succeed(location.file)
    : new BackupFailed({ message: "The store is PostgreSQL: back it up by pg_dump, or by its archive of WAL" })

/** Why the copy cannot be begun. */
const notMade = (file: string, partial: string) => (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException
  switch (code) {
    case "EEXIST":
      return new BackupFailed({
        message: `${partial} exists already: let the backup end that copies to it, or remove what an interrupted one has left`
      })
    case "ENOENT":
      return new BackupFailed({ message: `${file} cannot be made: its folder does not exist` })
    case "EACCES":
    case "EROFS":
      return new BackupFailed({ message: `${file} cannot be made: this user may not write in its folder` })
    default:
      return new BackupFailed({ message: `${file} cannot be made: ${message}` })
  }
}

const failed = (cause: unknown) => new BackupFailed({ message: `Cannot copy the store: ${(cause as Error).message}` })

const opened = Effect.fnUntraced(function* (file: string) {
  if (!existsSync(file)) {
    return yield* new BackupFailed({ message: `There is no store ${file} yet: nothing is to be copied` })
  }
  yield* Effect.mapError(SqliteFile.checkLog(file), failed)
  return yield* Effect.acquireRelease(
    Effect.try({ try: () => new BetterSqlite(file, { readonly: true, timeout: 10_000 }), catch: failed }),
    (db) => Effect.sync(() => db.close())
  )
})

/** How many pages a copy has. Fails where the file is empty: no store is in it. */
export const pages = Effect.fn("Backup.pages")(function* (store: string) {
  const db = yield* opened(store)
  const count = yield* Effect.try({ try: () => Number(db.pragma("page_count", { simple: true })), catch: failed })
  if (count === 0) return yield* new BackupFailed({ message: `${store} is empty: nothing is to be copied` })
  return count
}, Effect.scoped)

/** Pages in one step, between which others have their turn. */
const step = 10_000

/** Keeps to the state of this moment: else each write by another process would begin the copy anew, and that for ever. */
const holdState = (db: BetterSqlite.Database) =>
  Effect.try({
    try: () => {
      db.exec("begin")
      db.prepare("select 1 from sqlite_master").get()
    },
    catch: failed
  })

/**
 * Whatever takes the place of a store gets an epoch of its own: what was numbered since the copy was made is not in it. Of
 * a move that is under way the copy is no part. And it is known as a copy until it is opened.
 */
const asOwnStore = (file: string) => {
  const db = new BetterSqlite(file)
  const isThere = db.prepare("select 1 from sqlite_master where name = 'store_epoch'").get() !== undefined
  if (isThere) db.exec("delete from store_epoch")
  MoveSource.forgetIn(db)
  db.pragma(`user_version = ${SqliteFile.copyMark}`)
  db.close()
}

/**
 * Fails where the copy is damaged, as a copy of a damaged store is: whoever has such copies lets go of the good ones that were
 * made before.
 */
const checkDamage = Effect.fnUntraced(function* (store: string, copied: string) {
  const damaged = (found: string) =>
    new BackupFailed({
      message: `The store ${store} is damaged, and no copy was made (${found}): keep the copies that were made before`
    })
  const found = yield* Effect.try({
    try: () => {
      const db = new BetterSqlite(copied)
      try {
        return String(db.pragma("quick_check(1)", { simple: true })).replaceAll(/\s+/g, " ")
      } finally {
        db.close()
      }
    },
    catch: (cause) => {
      const { code, message } = cause as Error & { readonly code?: string }
      // A disk that is full, among others, says nothing about the store.
      return /^SQLITE_(?:CORRUPT|NOTADB)/.test(code ?? "") ? damaged(message) : failed(cause)
    }
  })
  if (found !== "ok") return yield* damaged(found)
})

/**
 * Copies the store to `file`, which must not exist, and gives its size in bytes. `advance` runs after each step with the
 * pages that were copied. Nothing stands at `file` before the copy is whole and was read through for damage.
 */
export const copy = Effect.fn("Backup.copy")(function* (
  store: string,
  file: string,
  advance: (pages: number) => Effect.Effect<void>
) {
  const db = yield* opened(store)
  const partial = `${file}.partial`
  // The copy holds secrets of subscriptions. Whoever makes this file has both names: a second copy to them is refused.
  yield* Effect.try({ try: () => closeSync(openSync(partial, "wx", 0o600)), catch: notMade(file, partial) })
  // Of a copy that is not made whole nothing stays: its name would be refused from then on.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const name of [partial, StoreFile.logOf(partial), `${partial}-shm`]) rmSync(name, { force: true })
    })
  )
  if (existsSync(file)) {
    return yield* new BackupFailed({
      message: `${file} exists already, and is not replaced: name another file`
    })
  }
  yield* holdState(db)
  const run = Effect.runForkWith(yield* Effect.context<never>())
  let done = 0
  const { totalPages } = yield* Effect.tryPromise({
    try: () =>
      db.backup(partial, {
        progress: ({ remainingPages, totalPages }) => {
          const now = totalPages - remainingPages
          if (now > done) run(advance(now - done))
          done = Math.max(done, now)
          return step
        }
      }),
    catch: failed
  })
  // The last step is not reported.
  yield* advance(totalPages - done)
  // The log of the store may be emptied again.
  db.close()
  yield* checkDamage(store, partial)
  return yield* Effect.try({
    try: () => {
      asOwnStore(partial)
      renameSync(partial, file)
      return statSync(file).size
    },
    catch: failed
  })
}, Effect.scoped)
