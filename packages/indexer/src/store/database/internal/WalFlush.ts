/**
 * Brings what was committed to a SQLite file's log onto the disk, which commits do not wait for: with
 * `synchronous = NORMAL` they survive the end of the process, and not of the machine. Those that ask at the same time
 * share one flush of the log, on another thread: commits of blocks, which can be read again, never wait for one.
 */
import { open } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { DatabaseError } from "../DatabaseError.ts"

/** Brings the log of a file onto the disk. */
const syncLog = (file: string) =>
  Effect.tryPromise({
    try: async () => {
      const log = await open(`${file}-wal`, "r+")
      await log.datasync().finally(() => log.close())
    },
    catch: (cause) => new DatabaseError({ cause })
  })

/** An effect that ends when everything that was committed before its start is on the disk. */
export const make = (file: string, sync = syncLog(file)): Effect.Effect<void, DatabaseError> => {
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
