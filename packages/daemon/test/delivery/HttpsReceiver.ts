/** HTTPS servers for delivery tests: every one on 127.0.0.1, under whatever name a test's DNS gives it. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { DevelopmentCertificate } from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly method: string
  readonly path: string
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

export interface HttpsReceiver {
  readonly port: number
  readonly received: Array<Received>
  /** Connections that were ever made. */
  readonly connections: () => number
  readonly until: (enough: (received: ReadonlyArray<Received>) => boolean, seconds?: number) => Effect.Effect<void>
}

/** Answers a request in any way it likes. */
export type Answer = (response: ServerResponse, received: Received) => void

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end("answer")

export const start = Effect.fnUntraced(function* (certificate: DevelopmentCertificate, answer: Answer = status(200)) {
  const received: Array<Received> = []
  let connections = 0
  const server = createServer(certificate, (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const one = {
        headers: request.headers,
        method: request.method ?? "",
        path: request.url ?? "",
        text: Buffer.concat(chunks).toString("utf8"),
        at: Date.now()
      }
      received.push(one)
      answer(response, one)
    })
  })
  server.on("connection", () => connections++)
  const port = yield* LocalServer.listen(server)
  const until = Effect.fnUntraced(function* (enough: (received: ReadonlyArray<Received>) => boolean, seconds = 120) {
    for (let i = 0; i < seconds * 100; i++) {
      if (enough(received)) return
      yield* Effect.sleep("10 millis")
    }
    return yield* Effect.die(new Error(`Not received within ${seconds} s; so far ${received.length} requests`))
  })
  return {
    port,
    received,
    connections: () => connections,
    until
  } satisfies HttpsReceiver
})
