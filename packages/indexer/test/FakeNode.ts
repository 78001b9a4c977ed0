/** A small JSON-RPC node on loopback for tests: answers from a function or from recorded answers, or misbehaves. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LocalServer from "../../../test/LocalServer.ts"

/** Serves raw HTTP on an ephemeral port until the scope ends, and refuses WebSocket, or leaves that to the listener too. */
export const http = (
  listener: RequestListener,
  webSocket: "refused" | "listener" = "refused"
): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.suspend(() => {
    const server = createServer(listener)
    if (webSocket === "refused") server.on("upgrade", (_, socket) => socket.destroy())
    return Effect.map(LocalServer.listen(server), (port) => ({ url: `http://127.0.0.1:${port}` }))
  })

export const bodyOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => resolve(Buffer.concat(chunks).toString()))
  })

/** Thrown by an answer function: the call is answered with this JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

export type Answer = (method: string, params: ReadonlyArray<unknown>) => unknown

export interface FakeNode {
  readonly url: string
  /** Every call received, in order. */
  readonly calls: ReadonlyArray<Call>
  /** HTTP requests received; a batch is one. */
  readonly requests: () => number
}

export const answerTo = (call: Call, answer: Answer): object => {
  try {
    return { jsonrpc: "2.0", id: call.id, result: answer(call.method, call.params) ?? null }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return { jsonrpc: "2.0", id: call.id, error: { code: error.code, message: error.message } }
  }
}

const send = (response: ServerResponse, answer: unknown) => {
  const body = Buffer.from(JSON.stringify(answer))
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
}

/** A JSON-RPC node that takes single calls and batches. */
export const make = (answer: Answer): Effect.Effect<FakeNode, never, Scope.Scope> => {
  const calls: Array<Call> = []
  let requests = 0
  return Effect.map(
    http((request, response) => {
      void bodyOf(request).then((body) => {
        requests++
        const asked = JSON.parse(body) as Call | ReadonlyArray<Call>
        const all = Array.isArray(asked) ? (asked as ReadonlyArray<Call>) : [asked as Call]
        calls.push(...all)
        const answers = all.map((call) => answerTo(call, answer))
        send(response, Array.isArray(asked) ? answers : answers[0])
      })
    }),
    ({ url }) => ({ url, calls, requests: () => requests })
  )
}

export interface Recorded {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
  readonly result: unknown
}

/** Answers what was recorded, by method and parameters; a method never recorded is -32601, other parameters give null. */
export const recorded = (answers: ReadonlyArray<Recorded>): Answer => {
  const results = new Map(answers.map(({ method, params, result }) => [`${method} ${JSON.stringify(params)}`, result]))
  const methods = new Set(answers.map(({ method }) => method))
  return (method, params) => {
    if (!methods.has(method)) throw new RpcError(-32601, `the method ${method} does not exist/is not available`)
    return results.get(`${method} ${JSON.stringify(params)}`)
  }
}
