/** The daemon as its own process, as an operator runs it, for end-to-end tests: started, killed, started again. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import * as Operator from "@headwater/daemon/Operator"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Folder from "./Folder.ts"
import { freePort } from "./FreePort.ts"
import { program } from "./Program.ts"
import * as SqliteThreads from "./SqliteThreads.ts"

/** What tests are told by variables of their own is no setting of the daemon. */
const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HEADWATER_"))),
  NODE_NO_WARNINGS: "1",
  // As the package's command has it.
  NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache")
})

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly body: any
}

export interface Headwater {
  readonly url: string
  readonly apiKey: string
  /** Headers that show a request to be the operator's; `get` and `post` send them. */
  readonly operator: Readonly<Record<string, string>>
  readonly get: (path: string) => Effect.Effect<Answer>
  /** Sends `item` as `data.item`. */
  readonly post: (path: string, item: Record<string, unknown>) => Effect.Effect<Answer>
  readonly remove: (path: string) => Effect.Effect<Answer>
  /** The data of an answer 200, waited for while the daemon is not ready to give one: by default while that is 503. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly data: (path: string, passing?: ReadonlyArray<number>) => Effect.Effect<any>
  /** Starts the process and waits until it answers. It is running when `start` has returned. */
  readonly launch: Effect.Effect<void>
  /** `kill -9`. */
  readonly kill: Effect.Effect<void>
  /** SIGTERM; the exit code. */
  readonly terminate: Effect.Effect<number | null>
  /** Waits until the process ends by itself; the exit code. */
  readonly exit: Effect.Effect<number | null>
  readonly pid: () => number
  /** Runs a command with the settings of the daemon; its exit code, and what it has printed. */
  readonly command: (
    ...args: ReadonlyArray<string>
  ) => Effect.Effect<{ readonly code: number; readonly printed: string }>
  /** What the process has printed so far. */
  readonly log: () => string
}

/** Looks again and again until an answer fits, and fails with one that does not after two minutes. */
export const until = Effect.fnUntraced(function* (look: Effect.Effect<Answer>, fits: (answer: Answer) => boolean) {
  for (let i = 0; ; i++) {
    const answer = yield* look
    if (fits(answer)) return answer
    assert.isBelow(i, 600, JSON.stringify(answer))
    yield* Effect.sleep("200 millis")
  }
})

const createKey = (location: Location) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const account = yield* accounts.create("test")
    const { key } = yield* accounts.createKey(account.id, { name: "test" })
    return Redacted.value(key)
  }).pipe(
    Effect.provide(Accounts.layer.pipe(Layer.provide(Database.layer(location)), Layer.provide(SqliteThreads.layer))),
    Effect.orDie
  )

export interface Options {
  /** The address to listen on; 127.0.0.1 if not given. */
  readonly host?: string
  /** The command that becomes the process, before Node's own, such as `["ip", "netns", "exec", name]`. */
  readonly command?: ReadonlyArray<string>
  /** Arguments of Node itself. */
  readonly node?: ReadonlyArray<string>
  /** A key of the store's; that of a new account if not given. */
  readonly apiKey?: string
  /** The file that Node is to run, where that is not the program as its package holds it. */
  readonly program?: string
}

/** Settings as in the file, without `store` and `http`'s `host` and `port`, which are the harness's own. */
export const start = (
  location: Location,
  settings: Record<string, unknown>,
  { apiKey: given, command = [], host = "127.0.0.1", node = [], program: run = program }: Options = {}
): Effect.Effect<Headwater, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* freePort
    const url = `http://${host}:${port}`
    const folder = yield* Folder.scoped
    const file = join(folder, "headwater.json")
    const { secretKeys } = location
    const store = {
      ...(location.kind === "sqlite" ? { sqlite: location.file } : { postgres: Redacted.value(location.url) }),
      ...(secretKeys === undefined ? {} : { secretKey: Redacted.value(secretKeys) })
    }
    writeFileSync(file, JSON.stringify({ ...settings, http: { ...(settings.http as object), host, port }, store }))
    const apiKey = given ?? (yield* createKey(location))

    let child: ChildProcess | undefined
    let printed = ""
    const exited = (process: ChildProcess) =>
      Effect.callback<number | null>((resume) => {
        if (process.exitCode !== null || process.signalCode !== null) resume(Effect.succeed(process.exitCode))
        else process.once("exit", (code) => resume(Effect.succeed(code)))
      })
    const end = (signal: NodeJS.Signals) =>
      Effect.suspend(() => {
        if (child === undefined) return Effect.succeed(null)
        child.kill(signal)
        return exited(child)
      })

    const answers = Effect.promise(() =>
      fetch(`${url}/health`).then(
        (response) => response.ok,
        () => false
      )
    )
    const launch = Effect.gen(function* () {
      const [program_, ...rest] = [...command, process.execPath, ...node, run, "serve", "--config", file] as const
      const process_ = spawn(program_!, rest, {
        stdio: ["ignore", "pipe", "pipe"],
        env: environment()
      })
      child = process_
      const collect = (chunk: Buffer) => {
        printed = (printed + chunk.toString("utf8")).slice(-20_000_000)
      }
      process_.stdout.on("data", collect)
      process_.stderr.on("data", collect)
      for (let i = 0; i < 2_400; i++) {
        if (yield* answers) return
        if (process_.exitCode !== null) break
        yield* Effect.sleep("50 millis")
      }
      return yield* Effect.die(new Error(`The daemon does not answer:\n${printed}`))
    })
    yield* Effect.addFinalizer(() => end("SIGKILL"))
    yield* launch
    const { token } = (settings.metrics as { readonly token?: string } | undefined) ?? {}
    // A daemon answers before it has opened its store, and made a key for that.
    const ofStore = Operator.ofStore(location).pipe(
      Effect.repeat({ until: (found) => found !== undefined, schedule: Schedule.spaced("20 millis") })
    )
    const operator = Operator.header(token === undefined ? (yield* ofStore)! : Redacted.make(token))

    const call = (method: string, path: string, body?: unknown) =>
      Effect.promise(async (): Promise<Answer> => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { "x-api-key": apiKey, "content-type": "application/json", ...operator },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        return { status: response.status, body: await response.json() }
      })
    return {
      url,
      apiKey,
      operator,
      get: (path) => call("GET", path),
      post: (path, item) => call("POST", path, { data: { item } }),
      remove: (path) => call("DELETE", path),
      data: Effect.fnUntraced(function* (path, passing = [503]) {
        const { body, status } = yield* until(call("GET", path), ({ status }) => !passing.includes(status))
        assert.strictEqual(status, 200, `${path} ${JSON.stringify(body)}`)
        return body.data
      }),
      launch,
      kill: Effect.asVoid(end("SIGKILL")),
      terminate: end("SIGTERM").pipe(
        Effect.timeoutOrElse({
          duration: "2 minutes",
          orElse: () => Effect.die(new Error(`The daemon does not end:\n${printed.slice(-5000)}`))
        })
      ),
      exit: Effect.suspend(() => exited(child!)),
      pid: () => child!.pid!,
      command: (...args) =>
        Effect.callback((resume) => {
          const all = [...node, program, ...args, "--config", file]
          execFile(process.execPath, all, { env: environment() }, (error, stdout, stderr) =>
            resume(Effect.succeed({ code: Number(error?.code ?? 0), printed: stdout + stderr }))
          )
        }),
      log: () => printed
    }
  })
