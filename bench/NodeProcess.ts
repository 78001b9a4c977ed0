/** A node of a bench's own in a process of its own: a program of this folder, which prints its URL and the heights of its blocks. */
import { spawn } from "node:child_process"
import * as Effect from "effect/Effect"

/** `command`: the file and its arguments. The process ends with the scope. */
export const start = Effect.fnUntraced(function* (...command: ReadonlyArray<string>) {
  const node = spawn(process.execPath, command, { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.kill("SIGKILL")))
  const printed = yield* Effect.promise<string>(
    () => new Promise((resolve) => node.stdout.once("data", (data) => resolve(String(data))))
  )
  const [url = "", ...heights] = printed.trim().split(" ")
  return { url, heights: heights.map(Number) }
})
