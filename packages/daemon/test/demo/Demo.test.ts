import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Folder from "../../../../test/Folder.ts"
import { packaged } from "../Program.ts"

/** The program of a checkout, which runs the sources. */
const checkout = fileURLToPath(new URL("../../bin/headwater.cjs", import.meta.url))

/** Runs below a terminal of its own what follows; part of util-linux. */
const terminal = ["script", "-qefc"]
const hasTerminal = spawnSync("script", ["--version"]).stdout?.includes("util-linux") ?? false

/** A shell with jobs, which waits for the command in its background and ends it when it is ended itself. */
const inBackground = (command: string) =>
  `exec sh -mc '${command} & job=$!; trap "kill $job; kill -CONT $job" INT HUP; wait $job'`

/**
 * The demo in a folder of its own, as `npm start` or a package runs it: without a command. A browser is started there that
 * writes the URLs it is to open into the file `opened`.
 */
const start = Effect.fnUntraced(function* (
  program: string,
  args: ReadonlyArray<string> = [],
  atTerminal?: "foreground" | "background"
) {
  const cwd = yield* Folder.scoped
  const browser = join(cwd, process.platform === "darwin" ? "open" : "xdg-open")
  writeFileSync(browser, `#!/bin/sh\necho "$1" >> "${join(cwd, "opened")}"\n`)
  chmodSync(browser, 0o755)
  const environment = { PATH: `${cwd}${delimiter}${process.env.PATH}`, DISPLAY: ":0" }
  const own = [process.execPath, program, ...args]
  const line = atTerminal === "background" ? inBackground(own.join(" ")) : `exec ${own.join(" ")}`
  const [command, ...rest] = atTerminal === undefined ? own : [...terminal, line, "/dev/null"]
  let printed = ""
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(command!, rest, { cwd, env: environment })),
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
  /** Whether something was opened. */
  const hasOpened = () => existsSync(join(cwd, "opened"))
  /** What was opened first, once it was: the browser is a process of its own. */
  const opened = Effect.gen(function* () {
    for (let i = 0; i < 1_200; i++) {
      const text = hasOpened() ? readFileSync(join(cwd, "opened"), "utf8") : ""
      if (text.endsWith("\n")) return text.trimEnd()
      yield* Effect.sleep("50 millis")
    }
    return yield* Effect.die(new Error("Nothing was opened"))
  })
  const press = (keys: string) => child.stdin?.write(keys)
  return { cwd, until, end, opened, hasOpened, press, printed: () => printed }
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
  const ports = ["API", "Console", "Chain", "Receiver"].map((label) => portOf(printed, label))
  for (let i = 0; i < 100; i++) {
    if ((yield* Effect.forEach(ports, isFree)).every((free) => free)) return true
    yield* Effect.sleep("50 millis")
  }
  return false
})

describe("the demo", () => {
  it.live("delivers verified callbacks, also for what is done by hand, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const demo = yield* start(checkout, ["--console"])
      yield* demo.until(/The first verified callback, [\d.]+ s after the start/)
      yield* demo.until(/outgoing 0.25 ETH/)
      const url = `http://127.0.0.1:${portOf(demo.printed(), "Console")}`
      yield* demo.until(new RegExp(`The browser opens ${url}; the password is`))
      assert.strictEqual(yield* demo.opened, url)
      const password = /Console +\S+ +password (\S+)/.exec(demo.printed())![1]!
      const login = yield* Effect.promise(() =>
        fetch(`${url}/api/login`, {
          ...{ method: "POST", headers: { "content-type": "application/json" } },
          body: JSON.stringify({ password })
        })
      )
      assert.strictEqual(login.status, 200)

      yield* demo.until(/ADDRESS_TOKENS_TRANSACTION_CONFIRMED: incoming 25 DEMO, block \d/)
      yield* demo.until(/ADDRESS_INTERNAL_TRANSACTION_CONFIRMED: incoming 0.1 ETH, block \d/)
      const [, key] = yield* demo.until(/incoming 0.5 ETH, block \d+\n.*\n +idempotency key +(\w+)/)
      yield* demo.until(/The chain replaced its newest/)
      yield* demo.until(new RegExp(`CONFIRMED_REVERTED: incoming 0.5 ETH, block \\d+\n.*\n +takes back +${key}\n`))
      yield* demo.until(/1 ETH is 2500 USD/)
      yield* demo.until(/3\. List the subscriptions:\n\ncurl .*\n/)
      assert.notInclude(demo.printed(), "not by the demo's secret")
      const commands = demo.printed().match(/^curl (?:.*\\\n)*.*$/gm)!
      assert.lengthOf(commands, 3)
      const [subscribe, send, list] = commands as [string, string, string]
      assert.strictEqual((yield* curl(subscribe)).status, 201)
      assert.strictEqual((yield* curl(send)).status, 200)
      yield* demo.until(/incoming 1 ETH[\s\S]*x-signature +verified\n +webhook-signature +verified/)
      const listed = (yield* curl(list)).body.data as { readonly total: number }
      assert.strictEqual(listed.total, 4)

      assert.strictEqual(yield* demo.end("SIGINT"), 0)
      assert.isTrue(yield* allFree(demo.printed()))
      assert.deepStrictEqual(readdirSync(join(demo.cwd, ".headwater")), [])
    }).pipe(Effect.scoped)
  )

  it.live("runs beside another one, and takes its chain with it when it is killed", () =>
    Effect.gen(function* () {
      const first = yield* start(yield* packaged)
      yield* first.until(/The first verified callback/)
      const second = yield* start(yield* packaged)
      yield* second.until(/The first verified callback/)
      for (const label of ["API", "Console", "Chain", "Receiver"]) {
        assert.notStrictEqual(portOf(first.printed(), label), portOf(second.printed(), label))
      }
      yield* second.end("SIGKILL")
      assert.isTrue(yield* allFree(second.printed()))
      assert.isTrue(existsSync(join(first.cwd, ".headwater")))
      assert.strictEqual(yield* first.end("SIGTERM"), 0)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasTerminal)("opens the console when Enter is pressed, and ends with Ctrl-C", () =>
    Effect.gen(function* () {
      const demo = yield* start(yield* packaged, [], "foreground")
      yield* demo.until(/Press Enter to open the console/)
      assert.isFalse(demo.hasOpened())
      demo.press("\n")
      yield* demo.until(/The browser opens/)
      assert.strictEqual(yield* demo.opened, `http://127.0.0.1:${portOf(demo.printed(), "Console")}`)
      yield* demo.until(/Sent 0.25 ETH/)
      demo.press("\u0003")
      assert.isTrue(yield* allFree(demo.printed()))
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasTerminal)("goes on in the background of a terminal, where reading a key would suspend it", () =>
    Effect.gen(function* () {
      const demo = yield* start(yield* packaged, [], "background")
      yield* demo.until(/Headwater with all of its parts/)
      demo.press("\n")
      yield* demo.until(/Sent 0.25 ETH/)
      assert.notInclude(demo.printed(), "Press Enter")
      demo.press("\u0003")
      assert.isTrue(yield* allFree(demo.printed()))
    }).pipe(Effect.scoped)
  )
})
