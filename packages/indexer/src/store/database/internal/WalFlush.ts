/**
 * Brings what was committed to a SQLite file's log onto the disk, which commits do not wait for: with
 * `synchronous = NORMAL` they survive the end of the process, and not of the machine. Those that ask at the same time
 * share one flush of the log, on another thread: commits of blocks, which can be read again, never wait for one.
 */
import { type FileHandle, open } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { DatabaseError } from "../DatabaseError.ts"
import * as StoreFile from "../StoreFile.ts"

/**
 * An effect that brings the log of a file onto the disk, one at a time. The log stays open until the scope ends: SQLite has the
 * same one as long as it has the file, and to open a log costs more than to flush it.
 */
export const ofLog = (file: string) =>
  Effect.suspend(() => {
    let log: FileHandle | undefined
    const flush = Effect.tryPromise({
      try: async () => {
        log ??= await open(StoreFile.logOf(file), "r+")
        await log.datasync()
      },
      catch: (cause) => new DatabaseError({ cause })
    })
    return Effect.as(
      Effect.addFinalizer(() => Effect.promise(async () => log?.close())),
      flush
    )
  })

/** An effect that ends when everything that was committed before its start is on the disk; `sync` brings it there. */
export const make = (sync: Effect.Effect<void, DatabaseError>): Effect.Effect<void, DatabaseError> => {
  const turn = Semaphore.makeUnsafe(1)
  let asked = 0
  let flushed = 0
  return Effect.suspend(() => {
    const own = ++asked
    return turn.withPermit(
      Effect.suspend(() => {
        if (flushed >= own) return Effect.void
        const covered = asked
        return Effect.map(sync, () => {
          flushed = covered
        })
      })
    )
  })
}
