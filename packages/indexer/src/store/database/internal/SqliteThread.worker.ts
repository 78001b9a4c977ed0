/**
 * The thread behind {@link SqliteThreadDialect}: owns the writing connection and answers one message at a time. With a task it
 * is the thread beside it that copies the log into the file.
 */
import { parentPort, Worker, workerData } from "node:worker_threads"
import Database from "better-sqlite3"
import * as SqliteCheckpoints from "./SqliteCheckpoints.ts"
import * as SqliteExecution from "./SqliteExecution.ts"
import { ownCheckpoints, pragmas, rareCheckpoints, type SqliteOptions } from "./sqlitePragmas.ts"

const write = (options: SqliteOptions) => {
  const committed = SqliteCheckpoints.behindCommits(options, (task) => {
    try {
      const thread = new Worker(new URL(import.meta.url), { workerData: task })
      thread.on("error", () => {})
      thread.on("exit", () => db.pragma(ownCheckpoints))
      db.pragma(rareCheckpoints)
    } catch {
      // The process may have no more threads: the writer copies the log itself.
    }
  })
  const db = new Database(options.file)
  for (const pragma of pragmas(options)) db.pragma(pragma)
  const answer = SqliteExecution.make(db)
  const giveBack = SqliteCheckpoints.giveBack(db, options)
  let isFull = false
  parentPort!.on("message", (request: SqliteExecution.Request) => {
    const reply = answer(request)
    parentPort!.postMessage(reply)
    isFull ||= reply.error?.code === "SQLITE_FULL"
    if (db.inTransaction) return
    giveBack(isFull)
    isFull = false
    committed()
  })
}

const given = workerData as SqliteOptions | SqliteCheckpoints.Task
if ("commits" in given) SqliteCheckpoints.run(given)
else write(given)
