/** The command line as its own process, for tests: run to its end, or killed on the way. */
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Folder from "../../../test/Folder.ts"
import { bundleFolder, program } from "../../../test/Program.ts"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `headwater` with nothing but these variables: as its package holds it, or `node` with other arguments than its
 * file; `killWhen` ends it by `kill -9` once it has printed so.
 */
export const run = (
  args: ReadonlyArray<string>,
  options: {
    readonly cwd?: string
    readonly node?: ReadonlyArray<string>
    readonly environment?: Readonly<Record<string, string>>
    readonly input?: string
    readonly killWhen?: (printed: string) => boolean
  } = {}
): Effect.Effect<Ended> =>
  Effect.callback<Ended>((resume) => {
    const child = spawn(process.execPath, [...(options.node ?? [program]), ...args], {
      cwd: options.cwd ?? tmpdir(),
      // The compile cache is as the package's command has it.
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), ...options.environment }
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

/** The first file of the program, which any Node can read, beside a bundle as in a package: that starts in a third of the time. */
export const packaged = Effect.map(Folder.scoped, (folder) => {
  const bin = join(folder, "bin/headwater.cjs")
  mkdirSync(join(folder, "bin"))
  copyFileSync(fileURLToPath(new URL("../bin/headwater.cjs", import.meta.url)), bin)
  symlinkSync(bundleFolder, join(folder, "program"))
  return bin
})
