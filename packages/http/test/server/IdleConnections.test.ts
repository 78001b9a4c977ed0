/** Connections of clients that ask and do not read: their answers lie in this process's memory. */
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as IdleConnections from "@headwater/http/server/IdleConnections"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"

/** More than a system takes of an answer that nobody reads. */
const answer = new Uint8Array(16 * 1024 * 1024)

/** The server's ends of so many connections over which the answer is asked for twice, and not read. */
const unread = Effect.fnUntraced(function* (server: Server, count: number) {
  const sockets: Array<Socket> = []
  server.on("request", ({ socket }, response) => {
    response.end(answer)
    if (!sockets.includes(socket)) sockets.push(socket)
  })
  const port = yield* LocalServer.listen(server)
  for (let i = 0; i < count; i++) {
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = connect(port, "127.0.0.1")
        client.on("error", () => {})
        client.pause().write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2))
        return client
      }),
      (client) => Effect.sync(() => client.destroy())
    )
    while (sockets.length <= i) yield* Effect.sleep("1 millis")
  }
  return sockets
})

describe("IdleConnections", () => {
  it.live("closes those beyond the bound that do not read an answer, the oldest first", () =>
    Effect.gen(function* () {
      const server = createServer()
      IdleConnections.bound(server, 2)
      const sockets = yield* unread(server, 5)
      while (sockets.filter(({ destroyed }) => !destroyed).length > 2) yield* Effect.sleep("1 millis")
      assert.deepStrictEqual(
        sockets.map(({ destroyed }) => destroyed),
        [true, true, true, false, false]
      )
    })
  )

  it.live("closes nobody who reads an answer for those who ask nothing", () =>
    Effect.gen(function* () {
      const server = createServer()
      IdleConnections.bound(server, 2)
      const [reader] = yield* unread(server, 1)
      const silent: Array<Socket> = []
      server.on("connection", (socket) => silent.push(socket))
      const { port } = server.address() as AddressInfo
      for (let i = 0; i < 4; i++) {
        yield* Effect.acquireRelease(
          Effect.sync(() => connect(port, "127.0.0.1")),
          (client) => Effect.sync(() => client.destroy())
        )
        while (silent.length <= i) yield* Effect.sleep("1 millis")
      }
      assert.deepStrictEqual(
        [reader!, ...silent].map(({ destroyed }) => destroyed),
        [false, true, true, false, false]
      )
    })
  )

  it.live("closes one that takes nothing of an answer for as long as a kept one may be silent", () =>
    Effect.gen(function* () {
      const server = createServer({ keepAliveTimeout: 50 })
      IdleConnections.bound(server, 2)
      const [socket] = yield* unread(server, 1)
      while (!socket!.destroyed) yield* Effect.sleep("1 millis")
    })
  )

  it.live("closes one over which more requests wait for their answers than a client has reason to send", () =>
    Effect.gen(function* () {
      const server = createServer((_, response) => void setImmediate(() => response.end("yes")))
      IdleConnections.bound(server, 2)
      const port = yield* LocalServer.listen(server)
      const answers = Effect.fnUntraced(function* (requests: number) {
        const chunks: Array<Buffer> = []
        const client = yield* Effect.acquireRelease(
          Effect.sync(() => connect(port, "127.0.0.1")),
          (client) => Effect.sync(() => client.destroy())
        )
        client.on("error", () => {}).on("data", (chunk) => chunks.push(chunk))
        client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(requests))
        const count = () => Buffer.concat(chunks).toString().split("200 OK").length - 1
        while (!client.destroyed && count() < requests) yield* Effect.sleep("1 millis")
        return count()
      })
      assert.strictEqual(yield* answers(100), 100)
      assert.strictEqual(yield* answers(101), 0)
    })
  )
})
