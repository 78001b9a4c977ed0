import { connect as connectTcp, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as HttpConnections from "@headwater/daemon/delivery/internal/HttpConnections"
import * as Effect from "effect/Effect"
import { Agent, type buildConnector } from "undici"
import * as LocalServer from "../../../../test/LocalServer.ts"

/** No TLS, which is the connector's. */
const connector: buildConnector.connector = ({ hostname, port }, done) => {
  const socket = connectTcp(Number(port), hostname)
  const failed = (error: Error) => done(error, null)
  socket.once("error", failed).once("connect", () => {
    socket.off("error", failed)
    done(null, socket)
  })
}

const connectionsOf = (connections = 2, connect = connector) =>
  Effect.acquireRelease(
    Effect.sync(() => HttpConnections.make({ connect, connections, maxHeadBytes: 65_536 })),
    (http) => Effect.sync(() => http.destroy())
  )

/** What came of a request: a status, or a failure. */
type Outcome = number | "failed"

interface Sent {
  readonly outcome: Outcome
  readonly text: string
}

const send = (
  http: HttpConnections.HttpConnections,
  port: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | undefined = "{}"
) =>
  Effect.callback<Sent>((resume) => {
    let outcome: Outcome = "failed"
    let text = ""
    const end = () => resume(Effect.succeed({ outcome, text }))
    const cut = http.send(
      { method: "POST", origin: `https://127.0.0.1:${port}`, path: "/path?query", headers, body },
      {
        head: ({ status }) => {
          outcome = status
        },
        body: (bytes) => {
          text += bytes.toString()
        },
        continues: () => {},
        ended: end,
        failed: (error) => {
          text += error.message
          end()
        }
      }
    )
    return Effect.sync(cut)
  })

/** A receiver of bytes, which has its way with the socket of each request. */
const receiver = Effect.fnUntraced(function* (answer: (socket: Socket, requests: number) => void) {
  const sockets = new Set<Socket>()
  const requests: Array<string> = []
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      requests.push(bytes.toString())
      answer(socket, requests.length)
    })
  })
  const port = yield* LocalServer.listen(server)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
    })
  )
  return { port, requests, connections: () => sockets.size, sockets }
})

/** As undici is answered by the same receiver. */
const sendByUndici = (port: number) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Agent({ maxHeaderSize: 65_536 })),
    (agent) =>
      Effect.callback<Outcome>((resume) => {
        let outcome: Outcome = "failed"
        const end = () => resume(Effect.succeed(outcome))
        agent.dispatch(
          { origin: `http://127.0.0.1:${port}`, path: "/", method: "POST", body: "{}" },
          {
            onRequestStart: () => {},
            onResponseData: () => {},
            onResponseStart: (_, status) => {
              if (status >= 200) outcome = status
            },
            onResponseEnd: end,
            onResponseError: end
          }
        )
      }),
    (agent) => Effect.promise(() => agent.destroy())
  )

const ok = "HTTP/1.1 200 OK\r\n"
/** Answers, each with whether its connection takes another request. */
const answers: ReadonlyArray<readonly [string, boolean]> = [
  [`${ok}content-length: 2\r\n\r\nok`, true],
  [`${ok}Content-Length:2\r\n\r\nok`, true],
  [`${ok}content-length: \t 2 \r\n\r\nok`, true],
  ["HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", true],
  ["HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", true],
  ["HTTP/1.1 200 \u00fcber\r\ncontent-length: 0\r\n\r\n", true],
  [`${ok}content-length: 2\r\nconnection: close\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\nconnection: x, Close\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\nkeep-alive: timeout=1\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\nkeep-alive: max=5, timeout=60\r\n\r\nok`, true],
  [`${ok}\r\nuntil it is closed`, false],
  [`${ok}content-length: 5\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\n\r\nok and more`, false],
  [`${ok}content-length: 2\r\n\r\nok${ok}content-length: 0\r\n\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, true],
  [`${ok}Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\nok\r\n00\r\n\r\n`, true],
  [`${ok}transfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`, true],
  [`${ok}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-trailer: 1\r\n\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\n\r\nno\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\n\r\n${"f".repeat(20)}\r\nok`, false],
  [`${ok}transfer-encoding: gzip\r\n\r\nok`, false],
  [`${ok}transfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, false],
  ["HTTP/1.1 204 No Content\r\n\r\n", true],
  ["HTTP/1.1 304 Not Modified\r\n\r\n", true],
  ["HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok", false],
  ["HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", false],
  ["HTTP/1.1 301 Moved\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n", true],
  [`\r\n\n${ok}content-length: 0\r\n\r\n`, true],
  ["HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n", true],
  [
    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 202 A\r\ncontent-length: 0\r\n\r\n",
    true
  ],
  ["HTTP/1.1 103 Early Hints\r\n\r\n", false],
  ["HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", false],
  ["HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok", true],
  ["HTTP/1.0 200 OK\r\n\r\nok", false],
  ["HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok", false],
  // None of these is HTTP.
  ["HTTP/3.0 200 OK\r\n\r\n", false],
  ["HTTP/1.1  200 OK\r\n\r\n", false],
  ["HTTP/1.1 20 OK\r\n\r\n", false],
  ["HTTP/1.1 2000 OK\r\n\r\n", false],
  ["HTTP/1.1 000 OK\r\n\r\n", false],
  [`HTTP/1.1 099 OK\r\n\r\n${ok}content-length: 0\r\n\r\n`, false],
  ["HTTP/1.1 two OK\r\n\r\n", false],
  ["http/1.1 200 OK\r\n\r\n", false],
  ["ICY 200 OK\r\n\r\n", false],
  ["220 mail.example.com ESMTP\r\n", false],
  ["<html>\r\n\r\n", false],
  ["\u0000\u0001\u0002\r\n\r\n", false],
  ["HTTP/1.1 200 OK\ncontent-length: 0\n\n", false],
  [`${ok}x-folded: a\r\n  b\r\ncontent-length: 0\r\n\r\n`, false],
  [`${ok}content-length: 2 \t\r\n\r\nok`, false],
  [`${ok}no colon\r\n\r\n`, false],
  [`${ok}: no name\r\n\r\n`, false],
  [`${ok}name : 1\r\n\r\n`, false],
  [`${ok}na me: 1\r\n\r\n`, false],
  [`${ok}name: \u0000\r\n\r\n`, false],
  [`${ok}name: \u0007\r\n\r\n`, false],
  [`${ok}content-length: 2\r\ncontent-length: 2\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok`, false],
  [`${ok}content-length: 2, 2\r\n\r\nok`, false],
  [`${ok}content-length: -2\r\n\r\nok`, false],
  [`${ok}content-length: +2\r\n\r\nok`, false],
  [`${ok}content-length: 0x2\r\n\r\nok`, false],
  [`${ok}content-length: 99999999999999999999999\r\n\r\nok`, false],
  [`${ok}content-length:\r\n\r\nok`, false],
  [`${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, false],
  [`${ok}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n`, false],
  [`${ok}long: ${"x".repeat(60_000)}\r\ncontent-length: 0\r\n\r\n`, true],
  [`${ok}long: ${"x".repeat(70_000)}\r\ncontent-length: 0\r\n\r\n`, false],
  ["", false]
]

describe("HttpConnections", () => {
  for (const [text, goesOn] of answers) {
    const bytes = Buffer.from(text, "latin1")
    it.live(
      `is answered as undici is, and ${goesOn ? "goes on" : "closes"}: ${JSON.stringify(text.slice(0, 110))}`,
      () =>
        Effect.gen(function* () {
          const { port } = yield* receiver((socket) => {
            socket.write(bytes)
            setTimeout(() => socket.end(), 30)
          })
          const http = yield* connectionsOf()
          assert.strictEqual((yield* send(http, port)).outcome, yield* sendByUndici(port))

          // In pieces, the second request over the same connection or another one.
          const pieces = yield* receiver((socket, requests) => {
            const half = Math.floor(bytes.length * (requests / 4))
            socket.write(bytes.subarray(0, half))
            setTimeout(() => {
              socket.write(bytes.subarray(half))
              if (!goesOn) setTimeout(() => socket.end(), 20)
            }, 10)
          })
          const { outcome, text: body } = yield* send(http, pieces.port)
          assert.deepEqual(yield* send(http, pieces.port), { outcome, text: body })
          assert.deepEqual(yield* send(http, pieces.port), { outcome, text: body })
          assert.strictEqual(pieces.connections(), goesOn ? 1 : 3)
        }).pipe(Effect.scoped)
    )
  }

  it.live("reads answers of which every byte comes by itself", () =>
    Effect.gen(function* () {
      const texts = [
        `${ok}transfer-encoding: chunked\r\n\r\n5;x\r\n{\r\n}\n\r\n1\r\n!\r\n0\r\n\r\n`,
        `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ok}content-length: 6\r\n\r\n{\r\n}\n!`
      ]
      const { connections, port } = yield* receiver((socket, requests) => {
        const writeFrom = (i: number) => {
          const text = texts[requests % 2]!
          socket.write(text[i]!)
          if (i + 1 < text.length) setTimeout(writeFrom, 1, i + 1)
        }
        writeFrom(0)
      })
      const http = yield* connectionsOf()
      for (let i = 0; i < 4; i++) {
        assert.deepEqual(yield* send(http, port), { outcome: 200, text: "{\r\n}\n!" })
      }
      assert.strictEqual(connections(), 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "reads each answer of a connection by its own head, the same ones again and one that differs in a letter",
    () =>
      Effect.gen(function* () {
        const head = (status: number, length: number) => `HTTP/1.1 ${status} OK\r\ncontent-length: ${length}\r\n\r\n`
        const texts = [
          ...[`${head(200, 2)}ok`, `${head(200, 2)}no`, `${head(201, 2)}ok`, `${head(200, 3)}yes`, `${head(200, 2)}ok`],
          `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${head(503, 2)}no`
        ]
        const { connections, port } = yield* receiver((socket, requests) => socket.write(texts[requests - 1]!))
        const http = yield* connectionsOf(1)
        const sent: Array<Sent> = []
        for (const _ of texts) sent.push(yield* send(http, port))
        assert.deepStrictEqual(
          sent.map(({ outcome, text }) => `${outcome} ${text}`),
          ["200 ok", "200 no", "201 ok", "200 yes", "200 ok", "503 no"]
        )
        assert.strictEqual(connections(), 1)
      }).pipe(Effect.scoped)
  )

  it.live("writes requests as they are read, and none with a header that would be more than one", () =>
    Effect.gen(function* () {
      const { port, requests } = yield* receiver((socket) => socket.write(`${ok}content-length: 0\r\n\r\n`))
      const http = yield* connectionsOf()
      for (const value of ["a\r\nx-other: b", "a\nb", "a\rb", "a\0b", "\u010d\u010a", "\u00fc"])
        assert.strictEqual((yield* send(http, port, { "x-header": value })).outcome, "failed")
      assert.lengthOf(requests, 0)
      yield* send(http, port, { "x-header": "a b" }, '{"a":"\u010d\u00fc\u{1f600}"}')
      assert.deepEqual(requests, [
        `POST /path?query HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\nx-header: a b\r\n` +
          'content-length: 16\r\n\r\n{"a":"\u010d\u00fc\u{1f600}"}'
      ])
    }).pipe(Effect.scoped)
  )

  it.live("takes nothing for an answer that came before its request", () =>
    Effect.gen(function* () {
      const { connections, port, sockets } = yield* receiver((socket, requests) =>
        socket.write(`HTTP/1.1 ${requests === 1 ? 200 : 503} X\r\ncontent-length: 0\r\n\r\n`)
      )
      const http = yield* connectionsOf()
      assert.strictEqual((yield* send(http, port)).outcome, 200)
      for (const socket of sockets) socket.write(`${ok}content-length: 0\r\n\r\n`)
      yield* Effect.sleep("50 millis")
      assert.strictEqual((yield* send(http, port)).outcome, 503)
      assert.strictEqual(connections(), 2)
    }).pipe(Effect.scoped)
  )

  it.live("sends no more at a time than there may be connections, and nothing that nobody waits for any more", () =>
    Effect.gen(function* () {
      const { connections, port, requests } = yield* receiver((socket) => {
        setTimeout(() => socket.write(`${ok}content-length: 0\r\n\r\n`), 20)
      })
      const http = yield* connectionsOf(2)
      const outcomes = yield* Effect.all(
        Array.from({ length: 7 }, (_, i) =>
          i === 5 ? Effect.timeoutOption(send(http, port), 1) : Effect.asSome(send(http, port))
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter((one) => one._tag === "Some" && one.value.outcome === 200).length, 6)
      assert.lengthOf(requests, 6)
      assert.strictEqual(connections(), 2)
    }).pipe(Effect.scoped)
  )

  it.live("survives a connection that cannot be begun, and goes on", () =>
    Effect.gen(function* () {
      const { port } = yield* receiver((socket) => socket.write(`${ok}content-length: 0\r\n\r\n`))
      let begun = 0
      const http = yield* connectionsOf(1, (to, done) => {
        if (begun++ === 0) throw new Error("not this one")
        return connector(to, done)
      })
      const outcomes = yield* Effect.all([send(http, port), send(http, port)], { concurrency: 2 })
      assert.deepEqual(outcomes, [
        { outcome: "failed", text: "not this one" },
        { outcome: 200, text: "" }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("tells everybody who waits when it is destroyed, and sends nothing more", () =>
    Effect.gen(function* () {
      const { port, requests } = yield* receiver(() => {})
      const http = yield* connectionsOf(1)
      setTimeout(() => http.destroy(), 100)
      const sent = yield* Effect.all([send(http, port), send(http, port), send(http, port)], { concurrency: 3 })
      assert.deepEqual(
        [...sent, yield* send(http, port)].map(({ outcome }) => outcome),
        Array(4).fill("failed")
      )
      assert.lengthOf(requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("closes a connection before the receiver says that it does, and one of a request that is given up", () =>
    Effect.gen(function* () {
      let closed = 0
      const { port } = yield* receiver((socket, requests) => {
        socket.once("close", () => closed++)
        if (requests === 1) socket.write(`${ok}keep-alive: timeout=3\r\ncontent-length: 0\r\n\r\n`)
      })
      const http = yield* connectionsOf()
      yield* send(http, port)
      while (closed < 1) yield* Effect.sleep("20 millis")
      yield* Effect.timeoutOption(send(http, port), 200)
      while (closed < 2) yield* Effect.sleep("20 millis")
      assert.strictEqual(http.made(`https://127.0.0.1:${port}`), 0, "nothing is kept of an origin without connections")
    }).pipe(Effect.scoped)
  )
})
