/**
 * Keeps a SQLite store to one daemon, and to one process while its schema is brought up to date: an operating system's
 * lock on a small file beside the store, which ends with the process that holds it. On PostgreSQL several daemons share
 * the store, and only a file of keys is kept to one command.
 */
import { closeSync, openSync } from "node:fs"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { DatabaseError } from "./DatabaseError.ts"
import type { Location } from "./Location.ts"
import * as StoreFile from "./StoreFile.ts"

/** Another process has the store for itself. */
export class StoreInUse extends Schema.TaggedError<StoreInUse>()("StoreInUse", { message: Schema.String }) {}

/** The file of the lock cannot be used: nobody can say whether another process has the store. */
const unusable = (file: string, cause: Error) =>
  new DatabaseError({
    cause: new Error(
      (cause as { readonly code?: string }).code === "EACCES"
        ? `This user may not open ${file}, by which one process has the store for itself: run headwater as the user who owns the file`
        : `Cannot lock the store by ${file}: ${cause.message}`,
      { cause }
    )
  })

/** Holds a file of a lock until the scope closes; fails with the message where another process holds that. */
export const hold = (file: string, message: string): Effect.Effect<void, StoreInUse | DatabaseError, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.try({
        try: () => {
          closeSync(openSync(file, "a", 0o600))
          const lock = new BetterSqlite(file, { timeout: 0 })
          // SQLite's own lock of a file, held without writing a byte: a journal would need room on a disk that may be full.
          lock.pragma("journal_mode = memory")
          lock.exec("begin exclusive")
          return lock
        },
        catch: (cause) =>
          (cause as { readonly code?: string }).code === "SQLITE_BUSY"
            ? new StoreInUse({ message })
            : unusable(file, cause as Error)
      }),
      (lock) => Effect.sync(() => lock.close())
    )
  )

/**
 * Holds the store until the scope closes. A program opens the store first: that takes the lock for as long as the schema
 * is behind.
 */
export const acquire = (location: Location): Effect.Effect<void, StoreInUse | DatabaseError, Scope.Scope> =>
  location.kind === "postgres"
    ? Effect.void
    : hold(
        `${StoreFile.itself(location.file)}.lock`,
        `The store ${location.file} is in use by another headwater (serve, rewind or skip): stop that one first`
      )
