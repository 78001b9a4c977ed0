/** The command line as its own process, for tests: run to its end, or killed on the way. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

const program = fileURLToPath(new URL("../bin/headwater.cjs", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `headwater` in `cwd` with nothing but these variables; `killWhen` ends it by `kill -9` once it has printed so. */
export const run = (
  args: ReadonlyArray<string>,
  options: {
    readonly cwd: string
    readonly environment?: Readonly<Record<string, string>>
    readonly input?: string
    readonly killWhen?: (printed: string) => boolean
  }
): Effect.Effect<Ended> =>
  Effect.callback<Ended>((resume) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: options.cwd,
      env: { PATH: process.env.PATH, NODE_NO_WARNINGS: "1", ...options.environment }
    })
    let stdout = ""
    let stderr = ""
    const look = () => {
      if (options.killWhen?.(stdout + stderr) === true) child.kill("SIGKILL")
    }
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("utf8")
      look()
    })
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8")
      look()
    })
    child.stdin.end(options.input ?? "")
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
