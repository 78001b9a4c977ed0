/** Servers on loopback for tests, on a port of their own, gone with the scope. */
import { createServer, type RequestListener } from "node:http"
import type { Server } from "node:net"
import { json } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Has a server listen, on any port unless one is given; the port. */
export const listen = (
  server: Server & { readonly closeAllConnections?: () => void },
  address = "127.0.0.1",
  port = 0
): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(port, address, () => resume(Effect.succeed((server.address() as { readonly port: number }).port)))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections?.()
      })
  )

/** Serves HTTP, and refuses WebSocket; the URL. */
export const http = (listener: RequestListener): Effect.Effect<string, never, Scope.Scope> =>
  Effect.suspend(() => {
    const server = createServer(listener)
    server.on("upgrade", (_, socket) => socket.destroy())
    return Effect.map(listen(server), (port) => `http://127.0.0.1:${port}`)
  })

export interface Call {
  readonly id: number
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: params of any method
  readonly params: ReadonlyArray<any>
}

/** A node that answers each call so, whether alone or in a batch; the URL. */
export const jsonRpc = (answer: (call: Call) => unknown): Effect.Effect<string, never, Scope.Scope> =>
  http(async (request, response) => {
    const asked = (await json(request)) as Call | ReadonlyArray<Call>
    const answers = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked as Call)
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers))
  })

/** Passes one call on to a node. */
export const ask = async (url: string, call: unknown): Promise<unknown> => {
  const headers = { "content-type": "application/json" }
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(call) })).json()
}
