/**
 * Copies a SQLite file's log into the file, on a thread and a connection of its own. The writer would do that in the midst of
 * a commit, for as long as the disk takes for two flushes, and everybody who waits for the writer would wait for them too.
 *
 * Not with a SQLite before 3.51.3: a checkpoint beside a writer that begins the log anew could damage the file there
 * (https://sqlite.org/wal.html, the WAL-reset bug).
 */
import { statfsSync, statSync } from "node:fs"
import Database from "better-sqlite3"
import * as StoreFile from "../StoreFile.ts"
import { pragmas, rareCheckpointPages, type SqliteOptions } from "./sqlitePragmas.ts"

/** What the thread is given. */
export interface Task {
  readonly options: SqliteOptions
  /** The writer's file and log, as `StoreFile.at` tells them. */
  readonly own: Found
  /** How often the writer has committed. */
  readonly commits: Int32Array<SharedArrayBuffer>
}

interface Found {
  readonly file: string | undefined
  readonly log: string | undefined
}

/**
 * Pages of the log, 20 MB: fewer are left for later, when some of them may have been written again. A copy ends with a flush of
 * the file, which a flush of the log waits for: who is answered once a commit is on the disk meets copies seldom so.
 */
const worthCopying = 2500

/** Bytes of the log before a thread is begun: a thread takes a tenth of a second of CPU, which a small log is not worth. */
const logBefore = 10_000_000

/** Between two looks at a log that grows slowly. */
const restMillis = 25
const failedMillis = 1000

const sleep = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

/**
 * A connection to the writer's own file and log, or none where another file is at one of the names by now: SQLite would copy the
 * log of the one into the other. It opens the file at once, and the log with the first statement.
 */
const open = ({ options, own }: Task) => {
  const isOwnFile = () => StoreFile.at(options.file) === own.file
  const isOwnLog = () => StoreFile.at(StoreFile.logOf(options.file)) === own.log
  if (own.file === undefined || own.log === undefined || !isOwnFile()) return undefined
  const db = new Database(options.file)
  if (isOwnFile() && isOwnLog()) {
    for (const pragma of pragmas(options)) db.pragma(pragma)
    if (isOwnLog()) return db
  }
  db.close()
  return undefined
}

/** What the thread does until it is ended; it ends at once where the file or its log is not the writer's. */
export const run = (task: Task): void => {
  const db = open(task)
  if (db === undefined) return
  const look = db.prepare<[], { readonly log: number; readonly checkpointed: number }>("pragma wal_checkpoint(noop)")
  // Waits for no reader and no writer, and holds none up.
  const copy = db.prepare("pragma wal_checkpoint(passive)")
  for (let seen = 0; ; ) {
    Atomics.wait(task.commits, 0, seen)
    seen = Atomics.load(task.commits, 0)
    try {
      const { checkpointed, log } = look.get()!
      // A log that the writer may copy itself is left to the writer, which cannot while the thread does: of a writer that is
      // faster than the thread the log would never begin anew.
      if (log < rareCheckpointPages && log - checkpointed >= worthCopying) copy.get()
      else sleep(restMillis)
    } catch {
      // A full disk, as the next commit says too.
      sleep(failedMillis)
    }
  }
}

/**
 * What gives the room of the log back, once the log is in the file, to a disk that is full or has less room than twice the log: the
 * file may have to grow by as much as the log and the next commit have. Without that room nothing could be copied and nothing
 * committed, and what room is made would go to the log. Waits for no reader.
 */
export const giveBack = (writer: Database.Database, { file }: SqliteOptions): ((isFull: boolean) => void) => {
  const log = StoreFile.logOf(file)
  const isShort = () => {
    const { bavail, blocks, bsize } = statfsSync(log)
    // A file system that does not say how large it is has no blocks.
    return blocks > 0 && bavail * bsize < 2 * statSync(log).size
  }
  const truncate = () => {
    const patience = writer.pragma("busy_timeout", { simple: true })
    writer.pragma("busy_timeout=0")
    try {
      writer.pragma("wal_checkpoint(truncate)")
    } finally {
      writer.pragma(`busy_timeout=${patience}`)
    }
  }
  return (isFull) => {
    try {
      if (isFull || isShort()) truncate()
    } catch {
      // The file may need to grow for the log's pages: the log stays whole.
    }
  }
}

/** What is to be called behind each commit of a writer that is about to open the file; `begin` makes the thread. */
export const behindCommits = (options: SqliteOptions, begin: (task: Task) => void): (() => void) => {
  const commits = new Int32Array(new SharedArrayBuffer(4))
  const file = StoreFile.at(options.file)
  const logName = StoreFile.logOf(options.file)
  let log: string | undefined
  let isBegun = false
  return () => {
    // A new file has its log from the first commit on.
    log ??= StoreFile.at(logName)
    if (!isBegun && (statSync(logName, { throwIfNoEntry: false })?.size ?? 0) >= logBefore) {
      isBegun = true
      begin({ options, own: { file, log }, commits })
    }
    Atomics.add(commits, 0, 1)
    Atomics.notify(commits, 0)
  }
}
