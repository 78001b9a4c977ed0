/** The thread behind `ReaderThread`: reads blocks for the main thread. */
import { parentPort, workerData } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as ReaderProgram from "./ReaderProgram.ts"

const { minimumLogLevel } = workerData as ReaderProgram.Options

Effect.runFork(Effect.provideService(ReaderProgram.serve(parentPort!), References.MinimumLogLevel, minimumLogLevel))
