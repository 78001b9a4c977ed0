/** The thread behind {@link SqliteThreadDialect}: owns the writing connection and answers one message at a time. */
import { parentPort, workerData } from "node:worker_threads"
import Database from "better-sqlite3"
import * as SqliteExecution from "./SqliteExecution.ts"
import { pragmas, type SqliteOptions } from "./sqlitePragmas.ts"

const options = workerData as SqliteOptions
const db = new Database(options.file)
for (const pragma of pragmas(options)) db.pragma(pragma)

const answer = SqliteExecution.make(db)

parentPort!.on("message", (request: SqliteExecution.Request) => parentPort!.postMessage(answer(request)))
