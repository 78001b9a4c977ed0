/** A real anvil chain for tests: own process, own port, gone with the scope. */
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { buffer } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LocalServer from "./LocalServer.ts"
import * as NodeHttp from "./NodeHttp.ts"

/** What the node answered instead of a result. */
export class AnvilError extends Error {
  readonly code: number
  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message}`)
    this.code = code
  }
}

export interface Anvil {
  readonly url: string
  /** Where anvil itself listens, over WebSocket. */
  readonly webSocket: string
  /** One call. Dies with an {@link AnvilError}. The result's type is the caller's word. */
  readonly rpc: <A = unknown>(method: string, params: ReadonlyArray<unknown>) => Effect.Effect<A>
  readonly pid: number
}

export interface Options {
  /** More flags, as `["--slots-in-an-epoch", "1"]`. Blocks are mined at once unless these say otherwise. */
  readonly args?: ReadonlyArray<string>
}

/** The program itself: the package's own script would be a second process, which outlives a kill of the first. */
const binary = (): string => {
  const machine = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`
  const anvil = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")
  return createRequire(anvil).resolve(`@foundry-rs/anvil-${machine}/bin/anvil`)
}

const portOf = (output: string): string | undefined => /Listening on [\d.]+:(\d+)/.exec(output)?.[1]

const json = { "content-type": "application/json" }

/**
 * Passes on one request after the other, those of a server before anvil and those of the test: anvil answers no more once it
 * has been asked to mine or to reorganise while it looks something up (foundry #10452).
 */
const inTurn = Effect.fnUntraced(function* (anvil: string) {
  let last: Promise<unknown> = Promise.resolve()
  const ask = (body: string | Buffer): Promise<NodeHttp.Answer> => {
    const answer = last.then(() => NodeHttp.post(anvil, json, body))
    last = answer.catch(() => undefined)
    return answer
  }
  // What anvil announces is to be had from anvil itself.
  const url = yield* LocalServer.http(async (request, response) => {
    try {
      const { body, status } = await ask(await buffer(request))
      response.writeHead(status, json).end(body)
    } catch {
      response.destroy()
    }
  })
  return { url, ask }
})

/** Starts a node with chain id 31337 and ten funded accounts on a port of its own choice. */
export const start = ({ args = [] }: Options = {}): Effect.Effect<Anvil, never, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(binary(), ["--host", "127.0.0.1", "--port", "0", ...args])),
      (child) =>
        Effect.callback<void>((resume) => {
          if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGKILL")
        })
    )
    const port = yield* Effect.callback<string>((resume) => {
      let output = ""
      const read = (chunk: Buffer) => {
        output += chunk.toString()
        const port = portOf(output)
        if (port === undefined) return
        // What follows is only drained, so that the node never waits for a reader.
        child.stdout.off("data", read).resume()
        child.stderr.off("data", read).resume()
        resume(Effect.succeed(port))
      }
      child.stdout.on("data", read)
      child.stderr.on("data", read)
      child.once("exit", () => resume(Effect.die(new Error(`anvil did not start: ${output}`))))
    }).pipe(
      Effect.timeoutOrElse({
        duration: "30 seconds",
        orElse: () => Effect.die(new Error("anvil said nothing for 30 seconds"))
      })
    )
    const { ask, url } = yield* inTurn(`http://127.0.0.1:${port}`)
    const rpc = <A>(method: string, params: ReadonlyArray<unknown>): Effect.Effect<A> =>
      Effect.promise(async () => {
        const { body } = await ask(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))
        const answer = JSON.parse(body.toString()) as {
          readonly result: A
          readonly error?: { readonly code: number; readonly message: string }
        }
        if (answer.error !== undefined) throw new AnvilError(method, answer.error.code, answer.error.message)
        return answer.result
      })
    yield* rpc("anvil_setLoggingEnabled", [false])
    return { url, webSocket: `ws://127.0.0.1:${port}`, rpc, pid: child.pid! }
  })
