import { createHash } from "node:crypto"
import { type AddressInfo, createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as XrpWebSocket from "../../../../src/families/xrp/internal/XrpWebSocket.ts"

const acceptOf = (key: string) =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")

/** A server that agrees to a WebSocket and does nothing more, as one that hangs; and the connections that it has. */
const hanging = Effect.acquireRelease(
  Effect.callback<{ readonly url: URL; readonly count: { made: number; open: number }; readonly close: () => void }>(
    (resume) => {
      const count = { made: 0, open: 0 }
      const server = createServer((socket) => {
        count.made++
        count.open++
        socket.on("error", () => {}).on("close", () => count.open--)
        socket.once("data", (head) => {
          const [, key = ""] = /sec-websocket-key: (\S+)/i.exec(head.toString()) ?? []
          const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
          socket.write([...lines, `Sec-WebSocket-Accept: ${acceptOf(key)}`, "", ""].join("\r\n"))
          socket.on("data", () => {})
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: new URL(`ws://127.0.0.1:${port}`), count, close: () => server.close() }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

describe("XrpWebSocket", () => {
  it.live("leaves no connection open to a server that hangs", () =>
    Effect.gen(function* () {
      const { count, url } = yield* hanging
      const server = yield* XrpWebSocket.make({ url, timeoutMillis: 50, onLedgerClosed: () => {} })
      for (let request = 0; request < 4; request++) yield* Effect.flip(server.request("server_info", {}))
      assert.strictEqual(count.made, 4)
      yield* Effect.suspend(() => (count.open === 0 ? Effect.void : Effect.fail("connections are open"))).pipe(
        Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 100 })
      )
    }).pipe(Effect.scoped)
  )
})
