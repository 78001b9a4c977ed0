import { type StdioOptions, spawn } from "node:child_process"
import { closeSync, existsSync, openSync, writeFileSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { freePort } from "../../../test/FreePort.ts"
import { program } from "../../../test/Program.ts"

/** A file on a disk that has no room, where the system has one. */
const full = "/dev/full"

/** A process of the program, ended with the scope. */
const start = (args: ReadonlyArray<string>, stdio: StdioOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [program, ...args], { stdio })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const exitOf = (child: ReturnType<typeof spawn>) =>
  Effect.callback<number | null>((resume) => {
    child.on("close", (code) => resume(Effect.succeed(code)))
  })

const disk = Effect.acquireRelease(
  Effect.sync(() => openSync(full, "w")),
  (descriptor) => Effect.sync(() => closeSync(descriptor))
)

describe.skipIf(!existsSync(full))("the process", () => {
  it.live("goes on serving where its log cannot be written", () =>
    Effect.gen(function* () {
      const cwd = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const port = yield* freePort
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      const settings = { chains, http: { port }, store: { sqlite: `${cwd}/headwater.db` } }
      writeFileSync(`${cwd}/headwater.json`, JSON.stringify(settings))
      const child = yield* start(["serve", "--config", `${cwd}/headwater.json`], ["ignore", "ignore", yield* disk])
      const health = Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/health`).then(
          ({ status }) => status,
          () => undefined
        )
      )
      while ((yield* health) !== 200) {
        assert.isNull(child.exitCode, "the daemon has ended")
        yield* Effect.sleep("50 millis")
      }
      child.kill("SIGTERM")
      assert.strictEqual(yield* exitOf(child), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("fails where its result cannot be written, and says why", () =>
    Effect.gen(function* () {
      const child = yield* start(["openapi"], ["ignore", yield* disk, "pipe"])
      let said = ""
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8")
      })
      assert.strictEqual(yield* exitOf(child), 1)
      assert.match(said, /^Standard output cannot be written: ENOSPC[^\n]*\n$/)
    }).pipe(Effect.scoped)
  )
})
