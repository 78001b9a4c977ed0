/** Where threads that read blocks come from. */
import { Worker } from "node:worker_threads"
import * as Context from "effect/Context"
import type { WorkerThread } from "../../WorkerThread.ts"
import type { Options, Reply, Request } from "./ReaderMessage.ts"

export type Thread = WorkerThread<Request, Reply>

const workerFile = import.meta.url.endsWith(".ts") ? "./ReaderThread.worker.ts" : "./ReaderThread.worker.js"

/**
 * Megabytes of a thread for what is young, most of which a block's answers leave behind: with V8's own 48 the collector runs
 * three times as often, and takes a tenth of the time that a block takes (bench/catchup.ts).
 */
const youngMegabytes = 192

/** The machine's own threads; others in simulations. */
export const ReaderMachine = Context.Reference("@headwater/indexer/sync/ReaderMachine", {
  defaultValue: () => ({
    start: (options: Options): Thread =>
      new Worker(new URL(workerFile, import.meta.url), {
        workerData: options,
        resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes }
      }) as unknown as Thread
  })
})
