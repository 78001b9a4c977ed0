/**
 * Preloaded by a program that opens a store (`node --import`): writes a dot for each statement that a connection which
 * may write is to run, and kills the program before the one that `KILL_AT` counts to.
 */
import { writeSync } from "node:fs"
import { isMainThread, workerData } from "node:worker_threads"
import Sqlite from "better-sqlite3"
import pg from "pg"

const killAt = Number(process.env.KILL_AT)
let statements = 0

// biome-ignore lint/suspicious/noExplicitAny: functions of any kind are put in front of
type Any = (...parameters: Array<any>) => any

const counted = (run: Any): Any =>
  function (this: unknown, ...parameters) {
    statements++
    if (statements === killAt) process.kill(process.pid, "SIGKILL")
    writeSync(1, ".")
    return run.apply(this, parameters)
  }

// The thread that copies SQLite's log (`commits`) changes nothing of the store, and how often it runs is chance.
if (isMainThread) pg.Client.prototype.query = counted(pg.Client.prototype.query)
else if (workerData?.commits === undefined) {
  const { prepare, pragma } = Sqlite.prototype
  Sqlite.prototype.pragma = counted(pragma)
  Sqlite.prototype.prepare = function (this: Sqlite.Database, sql: string) {
    const statement = prepare.call(this, sql)
    for (const method of ["run", "get", "all"] as const) statement[method] = counted(statement[method])
    return statement
  } as never
}
