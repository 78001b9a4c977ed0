/** The browser of the person before the terminal. */
import { spawn } from "node:child_process"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
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

/** Whether keys can be pressed: the standard input is a terminal. */
export const canPress: boolean = process.stdin.isTTY === true

/** Each time that Enter is pressed. */
export const enterPresses: Stream.Stream<void> = canPress
  ? Stream.callback((queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const tell = () => Queue.offerUnsafe(queue, undefined)
          process.stdin.on("data", tell)
          return tell
        }),
        (tell) => Effect.sync(() => process.stdin.off("data", tell).pause())
      )
    )
  : Stream.empty
