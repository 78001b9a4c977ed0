/** Runs the command line in this process. Exit codes: 0 done, 1 failed or asked for wrongly, 2 nothing that Headwater does, 130 interrupted. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import type * as Runtime from "effect/Runtime"
import { defaultTeardown } from "effect/Runtime"
import * as Cli from "./Cli.ts"

/** A service that stops because of a signal sets its own exit code: it is not an interrupted command. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) && process.exitCode !== undefined
    ? onExit(Number(process.exitCode))
    : defaultTeardown(exit, onExit)

/** A part that hangs on stopping must not keep the process alive, least of all after a second signal. */
const stopLimitMillis = 20_000
const endUnstopped = () => {
  console.error(
    `Not stopped within ${stopLimitMillis / 1_000} s, perhaps by a store that does not answer: ended all the same`
  )
  process.exit(1)
}
let asked = 0
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    asked++
    if (asked === 1) setTimeout(endUnstopped, stopLimitMillis).unref()
    else process.exit(1)
  })
}

/** A log that cannot be written, to a full disk or to a program that has ended, stops nothing: later lines are tried again. */
process.stderr.on("error", () => {})
/** A result that cannot be written is a failure; a reader that has seen enough needs no word of it. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (process.exitCode !== undefined) return
  if (error.code !== "EPIPE") console.error(`Standard output cannot be written: ${error.message}`)
  process.exitCode = 1
  process.kill(process.pid, "SIGTERM")
})

Cli.run.pipe(
  Effect.tapDefect((defect) => Effect.logFatal(defect)),
  // Before any settings say so: standard output is for results only.
  Effect.provideService(Logger.LogToStderr, true),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
