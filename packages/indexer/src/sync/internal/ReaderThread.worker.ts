/** The thread behind `ReaderThread`: reads blocks for the main thread. */
import { parentPort, workerData } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type { Options } from "./ReaderMessage.ts"
import * as ReaderProgram from "./ReaderProgram.ts"

const { minimumLogLevel } = workerData as Options

Effect.runFork(Effect.provideService(ReaderProgram.serve(parentPort!), References.MinimumLogLevel, minimumLogLevel))
