import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const program = fileURLToPath(new URL("../../bin/headwater.cjs", import.meta.url))

/** The demo in a folder of its own, as `npm start` runs it: without a command. */
const start = Effect.gen(function* () {
  const cwd = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-demo-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  let printed = ""
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [program], { cwd, env: { PATH: process.env.PATH } })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const collect = (chunk: Buffer) => {
    printed += chunk.toString("utf8")
  }
  child.stdout?.on("data", collect)
  child.stderr?.on("data", collect)
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const until = (pattern: RegExp, seconds = 120) =>
    Effect.gen(function* () {
      for (let i = 0; i < seconds * 20; i++) {
        const match = pattern.exec(printed)
        if (match !== null) return match
        yield* Effect.sleep("50 millis")
      }
      return yield* Effect.die(new Error(`${pattern} did not show up in\n${printed}`))
    })
  const end = (signal: NodeJS.Signals) =>
    Effect.promise(() => {
      child.kill(signal)
      return exit
    })
  return { cwd, until, end, printed: () => printed }
})

/** What a printed `curl` command would send, sent. */
const curl = (command: string) =>
  Effect.promise(async () => {
    const url = /^curl -s (\S+)/.exec(command)![1]!
    const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name!, value!] as const)
    const body = /-d '([^']+)'/.exec(command)?.[1]
    const response = await fetch(url, {
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { method: "POST", body })
    })
    return { status: response.status, body: (await response.json()) as { readonly data: unknown } }
  })

/** Whether nobody listens there any more. */
const isFree = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  })

const portOf = (text: string, label: string) => Number(new RegExp(`${label} +https?://[^:]+:(\\d+)`).exec(text)?.[1])

const allFree = Effect.fnUntraced(function* (printed: string) {
  const ports = ["API", "Chain", "Receiver"].map((label) => portOf(printed, label))
  for (let i = 0; i < 100; i++) {
    if ((yield* Effect.forEach(ports, isFree)).every((free) => free)) return true
    yield* Effect.sleep("50 millis")
  }
  return false
})

describe("the demo", () => {
  it.live("delivers verified callbacks, also for what is done by hand, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const demo = yield* start
      yield* demo.until(/The first verified callback, [\d.]+ s after the start/)
      yield* demo.until(/outgoing 0.25 ETH/)
      yield* demo.until(/3\. List the subscriptions:\n\ncurl .*\n/)
      assert.notInclude(demo.printed(), "WRONG")
      const commands = demo.printed().match(/^curl (?:.*\\\n)*.*$/gm)!
      assert.lengthOf(commands, 3)
      const [subscribe, send, list] = commands as [string, string, string]
      assert.strictEqual((yield* curl(subscribe)).status, 201)
      assert.strictEqual((yield* curl(send)).status, 200)
      yield* demo.until(/incoming 1 ETH[\s\S]*x-signature +verified\n +webhook-signature +verified/)
      const listed = (yield* curl(list)).body.data as { readonly total: number }
      assert.strictEqual(listed.total, 2)

      assert.strictEqual(yield* demo.end("SIGINT"), 0)
      assert.isTrue(yield* allFree(demo.printed()))
      assert.deepStrictEqual(readdirSync(join(demo.cwd, ".headwater")), [])
    }).pipe(Effect.scoped)
  )

  it.live("runs beside another one, and takes its chain with it when it is killed", () =>
    Effect.gen(function* () {
      const first = yield* start
      yield* first.until(/The first verified callback/)
      const second = yield* start
      yield* second.until(/The first verified callback/)
      for (const label of ["API", "Chain", "Receiver"]) {
        assert.notStrictEqual(portOf(first.printed(), label), portOf(second.printed(), label))
      }
      yield* second.end("SIGKILL")
      assert.isTrue(yield* allFree(second.printed()))
      assert.isTrue(existsSync(join(first.cwd, ".headwater")))
      assert.strictEqual(yield* first.end("SIGTERM"), 0)
    }).pipe(Effect.scoped)
  )
})
