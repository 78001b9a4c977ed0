import { createSecureServer as createHttp2Server } from "node:http2"
import { createServer as createHttpsServer } from "node:https"
import { connect, createServer as createTcpServer } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import { ReceiverClient, ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as LocalServer from "../../../../test/LocalServer.ts"
import * as HttpsReceiver from "./HttpsReceiver.ts"

const host = "receiver.test"

/** A client for which the host has these addresses, and its certificate. */
const world = Effect.fnUntraced(function* (timeoutMillis: number, addresses: ReadonlyArray<string> = ["127.0.0.1"]) {
  const certificate = yield* DevelopmentCertificate.make([host])
  const [first, ...others] = addresses.map(NetAddress.ipFromStringUnsafe)
  const client = yield* ReceiverClient.pipe(
    Effect.provide(
      yield* Layer.build(
        ReceiverClient.layer.pipe(
          Layer.provide(CallbackTarget.layer),
          Layer.provide(
            Layer.succeed(
              Dns.Dns,
              Dns.make({ lookup: () => Effect.succeed([first!, ...others]), resolve: () => Effect.never })
            )
          ),
          Layer.provide(Layer.succeed(AllowedHosts, new Set([host]))),
          Layer.provide(
            Layer.succeed(ReceiverClientOptions, { timeoutMillis, connections: 4, extraCa: certificate.ca })
          )
        )
      )
    )
  )
  const post = (port: number) =>
    client.request({ method: "POST", url: new URL(`https://${host}:${port}/`), headers: {}, body: "{}" })
  return { certificate, client, post }
})

/** A receiver in a thread of its own, which answers after `afterMillis`, and can be made to stand still. */
const inThread = Effect.fnUntraced(function* (
  { cert, key }: DevelopmentCertificate.DevelopmentCertificate,
  afterMillis: number
) {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Worker(
          `const { parentPort, workerData } = require("node:worker_threads")
           const server = require("node:https").createServer(workerData, (request, response) => {
             request.resume().on("end", () => setTimeout(() => response.end(), workerData.afterMillis))
           })
           server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => parentPort.postMessage(server.address().port))
           parentPort.on("message", (millis) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis))`,
          { eval: true, workerData: { cert, key, afterMillis } }
        )
    ),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const port = yield* Effect.callback<number>((resume) => {
    worker.once("message", (port) => resume(Effect.succeed(port)))
  })
  return { port, standStill: (millis: number) => worker.postMessage(millis) }
})

/** A receiver that writes what it likes for each request, as it comes; and how many requests there were. */
const inBytes = Effect.fnUntraced(function* (
  { cert, key }: DevelopmentCertificate.DevelopmentCertificate,
  answer: (socket: TLSSocket) => void
) {
  let requests = 0
  const sockets = new Set<TLSSocket>()
  const server = createServer({ cert, key }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      // The body is all of the last chunk, and has no brace but its own.
      if (!bytes.toString("latin1").endsWith("{}")) return
      requests++
      answer(socket)
    })
  })
  const port = yield* LocalServer.listen(server)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
    })
  )
  return { port, requests: () => requests, connections: () => sockets.size }
})

/** Has this process stand still. */
const standStill = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

describe("ReceiverClient", () => {
  for (const addresses of [
    ["127.0.0.1", "2001:db8::1"],
    ["127.0.0.1", "127.0.0.2"]
  ]) {
    it.live(`waits for a host that is far away, or loses a packet, also where it has ${addresses[1]} beside`, () =>
      Effect.gen(function* () {
        const { certificate, client, post } = yield* world(5000, addresses)
        const { port, standStill } = yield* inThread(certificate, 0)
        // Its queue is full: the system drops what would begin a connection, which is sent again after a second.
        standStill(500)
        yield* Effect.sleep("100 millis")
        const waiting = yield* Effect.acquireRelease(
          Effect.sync(() => Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}))),
          (sockets) =>
            Effect.sync(() => {
              for (const socket of sockets) socket.destroy()
            })
        )
        assert.lengthOf(waiting, 4)
        yield* Effect.sleep("100 millis")
        assert.strictEqual((yield* post(port)).status, 200)
        assert.isTrue(yield* client.reaches(new URL(`https://${host}:${port}/`)))
      }).pipe(Effect.scoped)
    )
  }

  it.live("takes an answer that came while this process stood still", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(1000)
      const { port } = yield* inThread(certificate, 300)
      assert.strictEqual((yield* post(port)).status, 200)
      // The request goes out, and everything else waits.
      setTimeout(() => setImmediate(standStill, 1500), 100)
      assert.strictEqual((yield* post(port)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("reads a pause that names no zone as one of UTC", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(1000)
      const zone = process.env.TZ
      process.env.TZ = "Asia/Tokyo"
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (zone === undefined) delete process.env.TZ
          else process.env.TZ = zone
        })
      )
      const [day, date, month, year, time] = new Date(Date.now() + 1_800_000).toUTCString().split(/,? /)
      for (const value of [
        `${day} ${month} ${date!.replace(/^0/, " ")} ${time} ${year}`,
        `${day}, ${date} ${month} ${year} ${time} GMT`
      ]) {
        const receiver = yield* HttpsReceiver.start(certificate, HttpsReceiver.status(503, { "retry-after": value }))
        const { retryAfter } = yield* post(receiver.port)
        assert.isTrue(retryAfter !== undefined && retryAfter > 1_790_000 && retryAfter <= 1_800_000, value)
      }
    }).pipe(Effect.scoped)
  )

  it.live("hears of a host that is an IPv6 address", () =>
    Effect.gen(function* () {
      const { client } = yield* world(1000)
      const port = yield* LocalServer.listen(createServer({}), "::1")
      assert.isTrue(yield* client.reaches(new URL(`https://[::1]:${port}/`)))
    }).pipe(Effect.scoped)
  )

  it.live("tells whether a host's certificate is valid now, whatever kept connections and sessions say", () =>
    Effect.gen(function* () {
      const { certificate, client, post } = yield* world(2000)
      let { cert, key } = certificate
      const server = createHttpsServer(
        { cert, key },
        (request, response) => void request.resume().on("end", () => response.end())
      )
      const url = new URL(`https://${host}:${yield* LocalServer.listen(server)}/`)
      assert.strictEqual((yield* post(Number(url.port))).status, 200)
      assert.isTrue(yield* client.isCertified(url))
      ;({ cert, key } = yield* DevelopmentCertificate.make([host]))
      server.setSecureContext({ cert, key })
      assert.strictEqual((yield* post(Number(url.port))).status, 200)
      assert.isFalse(yield* client.isCertified(url))
      server.closeAllConnections()

      let closed = 0
      const silentServer = createTcpServer(
        (socket) =>
          void socket
            .on("error", () => {})
            .on("close", () => closed++)
            .resume()
      )
      const silent = yield* LocalServer.listen(silentServer)
      assert.isFalse(yield* client.isCertified(new URL(`https://${host}:${silent}/`)))
      yield* Effect.sleep("50 millis")
      assert.strictEqual(closed, 1, "no connection is left open")
      silentServer.close()
      assert.isFalse(yield* client.isCertified(new URL(`https://${host}:${silent}/`)))
      assert.isFalse(yield* client.isCertified(new URL("https://elsewhere.test:1/")))
    }).pipe(Effect.scoped)
  )

  const accepted = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
  const interim = "HTTP/1.1 100 Continue\r\n\r\n"
  const answers: Readonly<Record<string, ReadonlyArray<string>>> = {
    "with the answer": [interim + accepted],
    "before it": [interim, accepted],
    "twice, with headers": [`${interim}HTTP/1.1 100 \r\ndate: today\r\n\r\n${accepted}`],
    "in pieces": ["HTTP/1.1 100 Continue\r\nda", "te: today\r\n", `\r\n${accepted}`],
    "and early hints": [interim, `HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n${accepted}`]
  }
  for (const [how, pieces] of Object.entries(answers)) {
    it.live(`expects an unasked 100 Continue: ${how}`, () =>
      Effect.gen(function* () {
        const { certificate, post } = yield* world(2000)
        const { connections, port, requests } = yield* inBytes(certificate, (socket) => {
          for (const [i, piece] of pieces.entries()) setTimeout(() => socket.write(piece), i * 50)
        })
        for (let i = 0; i < 4; i++) assert.strictEqual((yield* post(port)).status, 200)
        // Nothing was sent twice, and a connection was kept.
        assert.strictEqual(requests(), 4)
        assert.isAtMost(connections(), 2)
      }).pipe(Effect.scoped)
    )
  }

  it.live("says of a receiver that speaks HTTP/2 alone that callbacks are sent over HTTP/1.1", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(2000)
      const port = yield* LocalServer.listen(createHttp2Server({ ...certificate, allowHTTP1: false }))
      const { reason } = yield* Effect.flip(post(port))
      assert.strictEqual(
        reason,
        "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: the receiver does not speak HTTP/1.1, over which callbacks are sent"
      )
    }).pipe(Effect.scoped)
  )

  it.live("says of a failed handshake what OpenSSL gives as its reason, without the place in OpenSSL's source", () =>
    Effect.gen(function* () {
      const { post } = yield* world(2000)
      const port = yield* LocalServer.listen(
        createTcpServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      )
      const { reason } = yield* Effect.flip(post(port))
      assert.match(reason, /^ERR_SSL_\w+: [a-z ]+$/)
    }).pipe(Effect.scoped)
  )

  for (const [answer, said] of [
    ["220 mail.test ESMTP\r\n\r\n", "ERR_NOT_HTTP: the answer is not HTTP"],
    [
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`,
      "ERR_HEAD_TOO_LONG: the headers of the answer are too long"
    ],
    // Read as fast as they come, they would hold up the callbacks of everybody else.
    [interim.repeat(3000), "ERR_HEAD_TOO_LONG: the headers of the answer are too long"],
    ["HTTP/1.1 101 Switching Protocols\r\n\r\n", "ERR_SWITCHED: the answer is 101, to go on in another protocol"]
  ] as const)
    it.live(`says of an answer that is none why it is none, as ${said} of ${answer.slice(0, 12)}`, () =>
      Effect.gen(function* () {
        const { certificate, post } = yield* world(2000)
        const { port } = yield* inBytes(certificate, (socket) => socket.write(answer))
        const { fault, reason } = yield* Effect.flip(post(port))
        assert.deepEqual([fault, reason], ["receiver", said])
      }).pipe(Effect.scoped)
    )

  it.live("takes the status of an answer with many headers", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(2000)
      const many = `x-policy: ${"y".repeat(1000)}\r\n`.repeat(50)
      const { port } = yield* inBytes(certificate, (socket) => {
        socket.write(`HTTP/1.1 204 No Content\r\n${many}\r\n`)
      })
      assert.strictEqual((yield* post(port)).status, 204)
    }).pipe(Effect.scoped)
  )

  it.live("is answered by a status whose body never ends, and leaves few such connections", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(20_000)
      let open = 0
      const { connections, port, requests } = yield* inBytes(certificate, (socket) => {
        open++
        socket.once("close", () => open--)
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
      })
      for (let i = 0; i < 6; i++) assert.strictEqual((yield* post(port)).status, 200)
      assert.strictEqual(requests(), 6)
      assert.strictEqual(connections(), 6)
      while (open > 1) yield* Effect.sleep("10 millis")
    }).pipe(Effect.scoped)
  )

  it.live("keeps the connection of an answer whose end comes late", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(20_000)
      let ended = 0
      const { connections, port } = yield* inBytes(certificate, (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        setTimeout(() => {
          socket.write("2\r\nok\r\n0\r\n\r\n")
          ended++
        }, 300)
      })
      for (let i = 1; i <= 3; i++) {
        assert.strictEqual((yield* post(port)).status, 200)
        // The attempt ends first; and the answer is not cut.
        while (ended < i) yield* Effect.sleep("10 millis")
        yield* Effect.sleep("50 millis")
      }
      assert.strictEqual(connections(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("sends again over another connection where kept ones are closed, and never where a new one is", () =>
    Effect.gen(function* () {
      const { certificate, post } = yield* world(2000)
      const used = new WeakSet<TLSSocket>()
      const closing = yield* inBytes(certificate, (socket) => {
        if (used.has(socket)) socket.destroy()
        else setTimeout(() => socket.write(accepted), 50)
        used.add(socket)
      })
      // These leave three kept connections, of which the next request finds each closed.
      yield* Effect.all(
        Array.from({ length: 3 }, () => post(closing.port)),
        { concurrency: 3 }
      )
      yield* Effect.sleep("50 millis")
      assert.strictEqual((yield* post(closing.port)).status, 200)
      assert.strictEqual(closing.connections(), 4)
      // What is left of the last answer, as a body behind a 204, comes before the next one.
      const late = yield* inBytes(certificate, (socket) => {
        socket.write(used.has(socket) ? `late${accepted}` : accepted)
        used.add(socket)
      })
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* post(late.port)).status, 200)
      assert.strictEqual(late.connections(), 2)
      const hangingUp = yield* inBytes(certificate, (socket) => socket.destroy())
      for (let i = 0; i < 3; i++) assert.match((yield* Effect.flip(post(hangingUp.port))).message, /closed/)
      assert.strictEqual(hangingUp.requests(), 3)
    }).pipe(Effect.scoped)
  )
})
