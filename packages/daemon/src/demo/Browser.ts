/** The browser of the person before the terminal. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { isatty } from "node:tty"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** What opens a URL; a Linux without a screen has nobody to show a browser to. */
const opener = (): string | undefined => {
  if (process.platform === "darwin") return "open"
  if (process.platform === "win32") return "explorer"
  return process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined ? undefined : "xdg-open"
}

/** Opens a URL, in a process that is no longer ours; whether there is something to open it with. */
export const open = (url: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const command = opener()
    if (command === undefined) return resume(Effect.succeed(false))
    const child = spawn(command, [url], { detached: true, stdio: "ignore" })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("spawn", () => resume(Effect.succeed(true)))
    child.unref()
  })

/**
 * Whether the terminal's keys are for this process. A process in the background that reads a key is suspended, with all of
 * its job: where the process group in the foreground cannot be known, no key is read.
 */
const isForeground = (): boolean => {
  if (process.platform === "win32") return true
  const stat = Result.getOrElse(
    Result.try(() => readFileSync("/proc/self/stat", "utf8")),
    () => ""
  )
  // The program's name comes before, in parentheses, and may hold anything.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return group !== undefined && group === foreground
}

/** Whether keys can be pressed: the standard input is a terminal, with this process in its foreground. */
export const canPress: boolean = isatty(0) && isForeground()

/** Each time that Enter is pressed. */
export const enterPresses: Stream.Stream<void> = canPress
  ? Stream.callback((queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const tell = () => Queue.offerUnsafe(queue, undefined)
          // After Ctrl-Z, `bg` or `fg` lets the process go on.
          const follow = () => (isForeground() ? process.stdin.resume() : process.stdin.pause())
          process.stdin.on("data", tell)
          process.on("SIGCONT", follow)
          return { tell, follow }
        }),
        ({ follow, tell }) =>
          Effect.sync(() => {
            process.off("SIGCONT", follow)
            process.stdin.off("data", tell).pause()
          })
      )
    )
  : Stream.empty
