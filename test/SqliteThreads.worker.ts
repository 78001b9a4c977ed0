/** A thread that writes one SQLite file after another, as the store's own writes one. */
import { parentPort } from "node:worker_threads"
import * as SqliteExecution from "@headwater/indexer/store/database/internal/SqliteExecution"
import { pragmas } from "@headwater/indexer/store/database/internal/sqlitePragmas"
import Database from "better-sqlite3"
import type { Message } from "./SqliteThreads.ts"

let db: Database.Database
let answer: ReturnType<typeof SqliteExecution.make>

parentPort!.on("message", (message: Message) => {
  if (message === "close") {
    db.close()
    parentPort!.postMessage("closed")
  } else if ("file" in message) {
    db = new Database(message.file)
    for (const pragma of pragmas(message)) db.pragma(pragma)
    answer = SqliteExecution.make(db)
  } else parentPort!.postMessage(answer(message))
})
