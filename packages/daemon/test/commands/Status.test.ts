import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { program } from "../../../../test/Program.ts"
import { runCommand } from "../RunCommand.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const cwd = mkdtempSync(join(tmpdir(), "headwater-status-"))
    const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
    const settings = { http: { port: 1 }, store: { sqlite: join(cwd, "headwater.db") }, chains }
    writeFileSync(join(cwd, "headwater.json"), JSON.stringify(settings))
    return cwd
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("headwater status", () => {
  it.live("says that the daemon does not run, and what starts it", () =>
    Effect.gen(function* () {
      const config = join(yield* folder, "headwater.json")
      const { code, stderr, stdout } = yield* runCommand(["status", "--config", config])
      assert.strictEqual(code, 1)
      assert.match(stdout, /^CHAIN .*\nethereum\/devnet {2}not running/)
      assert.include(stderr, "Not ready: the daemon does not run; npm start -- serve starts it")
      const coloured = yield* runCommand(["status", "--config", config], { canColor: true })
      assert.include(coloured.stdout, "\x1b[2mnot running\x1b[0m")
    }).pipe(Effect.scoped)
  )

  it.live("with --watch prints again only what has changed, and ends well on Ctrl-C", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const ended = yield* Effect.callback<{ readonly code: number | null; readonly stdout: string }>((resume) => {
        const args = [program, "status", "--watch", "--interval", "1", "--config", "headwater.json"]
        const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH } })
        let stdout = ""
        child.stdout.on("data", (chunk: Buffer) => {
          stdout += chunk.toString("utf8")
          // Two more looks find the same.
          setTimeout(() => child.kill("SIGINT"), 2_500)
        })
        child.on("close", (code) => resume(Effect.succeed({ code, stdout })))
        return Effect.sync(() => child.kill("SIGKILL"))
      })
      assert.strictEqual(ended.code, 0)
      assert.strictEqual(ended.stdout.split("not running").length, 2)
      assert.notInclude(ended.stdout, "\x1b")
    }).pipe(Effect.scoped)
  )
})
