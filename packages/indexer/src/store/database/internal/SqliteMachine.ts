/** What a SQLite store stands on: the thread that writes the file, and the disk that the file's log is brought onto. */
import { Worker } from "node:worker_threads"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { WorkerThread } from "../../../WorkerThread.ts"
import type { DatabaseError } from "../DatabaseError.ts"
import type { Reply, Request } from "./SqliteExecution.ts"
import type { SqliteOptions } from "./sqlitePragmas.ts"
import * as WalFlush from "./WalFlush.ts"

export type Thread = WorkerThread<Request, Reply>

const workerFile = import.meta.url.endsWith(".ts") ? "./SqliteThread.worker.ts" : "./SqliteThread.worker.js"

/** The machine's own; another one in simulations. */
export const SqliteMachine = Context.Reference("@headwater/indexer/store/database/SqliteMachine", {
  defaultValue: () => ({
    thread: (options: SqliteOptions): Thread =>
      new Worker(new URL(workerFile, import.meta.url), { workerData: options }) as unknown as Thread,
    /** An effect that brings what was committed before its start onto the disk. */
    flush: (file: string): Effect.Effect<Effect.Effect<void, DatabaseError>, never, Scope.Scope> => WalFlush.ofLog(file)
  })
})
