import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"
import { program } from "../../../../test/Program.ts"
import { runCommand } from "../RunCommand.ts"

/** A folder with settings whose daemon would listen on this port. */
const folder = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const cwd = mkdtempSync(join(tmpdir(), "headwater-status-"))
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      const settings = { http: { port }, store: { sqlite: join(cwd, "headwater.db") }, chains }
      writeFileSync(join(cwd, "headwater.json"), JSON.stringify(settings))
      return cwd
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** A port that answers nobody, and tells of each connection. */
const hangingUp = (onConnection: () => void) =>
  LocalServer.listen(
    createServer((socket) => {
      socket.destroy()
      onConnection()
    })
  )

describe("headwater status", () => {
  it.live("says that the daemon does not run, and what starts it", () =>
    Effect.gen(function* () {
      const config = join(yield* folder(1), "headwater.json")
      const { code, stderr, stdout } = yield* runCommand(["status", "--config", config])
      assert.strictEqual(code, 1)
      assert.match(stdout, /^CHAIN .*\nethereum\/devnet {2}not running/)
      assert.include(stderr, "Not ready: the daemon does not run; npm start -- serve starts it")
      const coloured = yield* runCommand(["status", "--config", config], { canColor: true })
      assert.include(coloured.stdout, "\x1b[2mnot running\x1b[0m")
    }).pipe(Effect.scoped)
  )

  it.live("calls no chain stopped that a daemon, which does not know the caller, tells nothing of", () =>
    Effect.gen(function* () {
      const daemon = new URL(yield* LocalServer.http((_, response) => response.end('{"ready":true}')))
      const config = join(yield* folder(Number(daemon.port)), "headwater.json")
      const { code, stderr, stdout } = yield* runCommand(["status", "--config", config])
      assert.strictEqual(code, 0)
      assert.match(stdout, /\nethereum\/devnet {2}not told/)
      assert.include(stderr, "Ready; the daemon tells its reasons to who has metrics.token")
    }).pipe(Effect.scoped)
  )

  it.live("with --watch prints again only what has changed, and ends well on Ctrl-C", () =>
    Effect.gen(function* () {
      let looks = 0
      let child: ChildProcess | undefined
      const port = yield* hangingUp(() => {
        // With the fourth look, three have been shown that found the same.
        if (++looks === 4) child?.kill("SIGINT")
      })
      const cwd = yield* folder(port)
      const ended = yield* Effect.callback<{ readonly code: number | null; readonly stdout: string }>((resume) => {
        const args = [program, "status", "--watch", "--interval", "1", "--config", "headwater.json"]
        const watching = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH } })
        child = watching
        let stdout = ""
        watching.stdout.on("data", (chunk: Buffer) => {
          stdout += chunk.toString("utf8")
        })
        watching.on("close", (code) => resume(Effect.succeed({ code, stdout })))
        return Effect.sync(() => watching.kill("SIGKILL"))
      })
      assert.strictEqual(ended.code, 0)
      assert.strictEqual(ended.stdout.split("not running").length, 2)
      assert.notInclude(ended.stdout, "\x1b")
    }).pipe(Effect.scoped)
  )
})
