/** Threads of SQLite stores that serve one store after another: to start one takes longer than many tests. */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { Request } from "@headwater/indexer/store/database/internal/SqliteExecution"
import { SqliteMachine, type Thread } from "@headwater/indexer/store/database/internal/SqliteMachine"
import type { SqliteOptions } from "@headwater/indexer/store/database/internal/sqlitePragmas"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export type Message = SqliteOptions | Request | "close"

const free: Array<Worker> = []

const start = () => new Worker(new URL("./SqliteThreads.worker.ts", import.meta.url))

const thread = (options: SqliteOptions): Thread => {
  const worker = free.pop() ?? start()
  const listeners: Array<readonly [event: string, listener: () => void]> = []
  let unanswered = 0
  let hasEnded = false
  const on: Thread["on"] = (event: string, listener: (value: never) => void) => {
    listeners.push([event, listener as () => void])
    worker.on(event, listener as () => void)
  }
  on("message", () => {
    unanswered--
  })
  on("exit", () => {
    hasEnded = true
  })
  worker.postMessage(options satisfies Message)
  return {
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    on,
    postMessage: (request, transfer) => {
      unanswered++
      worker.postMessage(request satisfies Message, transfer)
    },
    terminate: async () => {
      // In the middle of a statement it ends, as the store's own does.
      if (hasEnded || unanswered > 0) {
        await worker.terminate()
        return
      }
      for (const [event, listener] of listeners) {
        worker.off(event, listener)
        if (event === "exit") listener()
      }
      worker.ref()
      worker.postMessage("close" satisfies Message)
      await once(worker, "message")
      worker.unref()
      free.push(worker)
    }
  }
}

/** The machine of a store that a test builds within its own process. */
export const layer = Layer.effect(
  SqliteMachine,
  Effect.map(SqliteMachine, (machine) => ({ ...machine, thread }))
)
