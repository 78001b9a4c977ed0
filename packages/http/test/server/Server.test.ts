import { connect, type Socket } from "node:net"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Server from "@headwater/http/server/Server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { freePort } from "../../../../test/FreePort.ts"
import { stores } from "../../../../test/Stores.ts"
import { document, operations, wrongWithError } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

/** Sends bytes as they are, some at once and some later, and gives everything that comes back until the end. */
const raw = (url: string, first: string, trickle?: { readonly text: string; readonly everyMillis: number }) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        let text = ""
        const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(first))
        let at = 0
        const timer =
          trickle === undefined
            ? undefined
            : setInterval(() => {
                if (socket.writable) socket.write(trickle.text[at++ % trickle.text.length]!)
              }, trickle.everyMillis)
        socket.on("data", (chunk) => {
          text += chunk
        })
        socket.on("error", (error: Error & { code?: string }) => {
          if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error)
        })
        socket.on("close", () => {
          clearInterval(timer)
          resolve(text)
        })
      })
  )

const parse = (text: string) => {
  const [head, body] = text.split("\r\n\r\n") as [string, string]
  return { status: Number(head.split(" ")[1]), body: JSON.parse(body) }
}

const [store] = stores

layer(testServer(store!, { requestTimeoutMillis: 1_000, allowedOrigins: ["https://app.example.com"] }), {
  excludeTestServices: true
})("Server", (it) => {
  it.effect("gives everything an id that is in the answer and its header, 24 hexadecimal characters, each once", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const ids = new Set<string>()
      for (const path of ["/credits/balance", "/nowhere", "/domains?limit=0"]) {
        for (const key of [alice, undefined]) {
          const { body, headers } = yield* send(url, { path, key })
          assert.match(body.requestId, /^[0-9a-f]{24}$/)
          assert.strictEqual(headers.get("x-request-id"), body.requestId)
          assert.match(headers.get("x-response-time")!, /^\d+$/)
          assert.strictEqual(body.apiVersion, "2024-12-12")
          ids.add(body.requestId)
        }
      }
      assert.strictEqual(ids.size, 6)
    })
  )

  it.effect("has on every answer what keeps browsers and caches from doing more than is wanted", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      for (const [path, key] of [
        ["/credits/balance", alice],
        ["/credits/balance", ""],
        ["/nowhere", alice],
        ["/openapi.json", ""],
        ["/docs", ""]
      ] as const) {
        const answer = yield* Effect.promise(() => fetch(url + path, { headers: { "x-api-key": key } }))
        const { headers } = answer
        const page = yield* Effect.promise(() => answer.text())
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff", path)
        assert.strictEqual(headers.get("cache-control"), "no-store", path)
        assert.strictEqual(headers.get("referrer-policy"), "no-referrer", path)
        const policy = headers.get("content-security-policy")!
        assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'$/, path)
        assert.notInclude(page, "<script", path)
        assert.strictEqual(policy.includes("style-src 'unsafe-inline'"), path === "/docs", path)
      }
      for (const request of [
        "hello\r\n\r\n",
        "GET /docs HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n"
      ]) {
        const text = yield* raw(url, request)
        assert.include(text, "\r\nx-content-type-options: nosniff\r\n")
        assert.include(text, "\r\ncache-control: no-store\r\n")
      }
    })
  )

  it.effect("takes the version that it has, and no other", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const ask = (version: string) =>
        send(url, { path: "/credits/balance", key: alice, headers: { "x-api-version": version } })
      assert.strictEqual((yield* ask("2024-12-12")).status, 200)
      const { body, status } = yield* ask("2021-03-20")
      assert.strictEqual(status, 400)
      assert.include(body.error.message, "2024-12-12")
      assert.deepStrictEqual(body.error.details, [
        { attribute: "x-api-version", message: '"2021-03-20" is not a version; supported: 2024-12-12' }
      ])
    })
  )

  it.effect("keeps a connection for the next request, also after an error", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const get = (path: string, close = "") => `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${alice}\r\n${close}\r\n`
      const text = yield* raw(
        url,
        get("/credits/balance") + get("/nowhere") + get("/credits/balance", "connection: close\r\n")
      )
      assert.deepStrictEqual(
        [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
        ["200", "404", "200"]
      )
    })
  )

  it.effect("answers a request that asks for WebSocket by another method as any other, with its body", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const item = JSON.stringify({ data: { item: { domain: "socket.example.com" } } })
      const text = yield* raw(
        url,
        `POST /domains HTTP/1.1\r\nhost: x\r\nx-api-key: ${alice}\r\ncontent-type: application/json\r\n` +
          `connection: upgrade, close\r\nupgrade: websocket\r\ncontent-length: ${item.length}\r\n\r\n${item}`
      )
      const { body, status } = parse(text)
      assert.strictEqual(status, 201, text)
      assert.strictEqual(body.data.item.domain, "socket.example.com")
    })
  )

  it.effect("refuses a request without a host, and ends the connection", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const text = yield* raw(url, "GET /docs HTTP/1.1\r\n\r\n")
      assert.match(text, /^HTTP\/1\.1 400 /)
      assert.match(text, /\r\nconnection: close\r\n/i)
      assert.notMatch(text, /\r\n\d+: /)
      const { body } = parse(text)
      assert.isUndefined(wrongWithError("invalid_data", body))
      assert.include(text, `\r\nx-request-id: ${body.requestId}\r\n`)
    })
  )

  it.effect("passes over an expectation that it does not know", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const request = `GET /credits/balance HTTP/1.1\r\nhost: x\r\nx-api-key: ${alice}\r\nexpect: more\r\nconnection: close\r\n\r\n`
      assert.strictEqual(parse(yield* raw(url, request)).status, 200)
    })
  )

  it.effect("refuses headers and URLs that are too large", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const request of [
        `GET /credits/balance HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`,
        `GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`
      ]) {
        const { body, status } = parse(yield* raw(url, request))
        assert.strictEqual(status, 431)
        assert.isUndefined(wrongWithError("payload_too_large", body))
      }
    })
  )

  it.effect("answers what is no HTTP in the envelope too", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const request of [
        "hello\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "POST /domains HTTP/1.1\r\nhost: x\r\ncontent-length: a\r\n\r\n",
        "POST /domains HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
      ]) {
        const { body, status } = parse(yield* raw(url, request))
        assert.strictEqual(status, 400, request)
        assert.isUndefined(wrongWithError("invalid_data", body))
      }
    })
  )

  it.effect("cuts off clients that send slowly, in their headers and in their body", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      for (const [begin, rest] of [
        ["GET /credits/balance HTTP/1.1\r\nhost: x\r\n", "x-slow: 1\r\n"],
        [
          `POST /domains HTTP/1.1\r\nhost: x\r\nx-api-key: ${alice}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{`,
          " "
        ]
      ] as const) {
        const text = yield* raw(url, begin, { text: rest, everyMillis: 100 })
        if (text !== "") assert.strictEqual(parse(text).status, 408)
      }
    })
  )

  it.effect("refuses a body that says it is too large, or turns out to be", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const head = `POST /domains HTTP/1.1\r\nhost: x\r\nx-api-key: ${alice}\r\ncontent-type: application/json\r\n`
      const chunk = `${(30_000).toString(16)}\r\n${" ".repeat(30_000)}\r\n`
      for (const request of [
        `${head}content-length: 70000\r\n\r\n${" ".repeat(70_000)}`,
        `${head}transfer-encoding: chunked\r\n\r\n${chunk}${chunk}${chunk}0\r\n\r\n`
      ]) {
        const { body, status } = parse(yield* raw(url, request))
        assert.strictEqual(status, 413)
        assert.isUndefined(wrongWithError("payload_too_large", body))
      }
    })
  )

  it.effect("simulates with as little gas as a transaction to oneself takes since Glamsterdam, and no less", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const own = `0x${"11".repeat(20)}`
      const statusOf = (gasLimit: number) =>
        Effect.map(
          Effect.promise(() =>
            fetch(`${url}/simulate-transactions/evm/ethereum/mainnet`, {
              method: "POST",
              headers: { "x-api-key": alice, "content-type": "application/json" },
              body: JSON.stringify({ data: { item: { sender: own, recipient: own, amount: "0", gasLimit } } })
            })
          ),
          ({ status }) => status
        )
      assert.strictEqual(yield* statusOf(11_999), 400)
      assert.strictEqual(yield* statusOf(12_000), 201)
    })
  )

  it.effect("takes a body of as many recipients, or as long a transaction, as an operation says that it takes", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const address = `bc1${"q".repeat(87)}`
      const recipients = Array.from({ length: 2_000 }, () => ({ address, amount: "0.00012345" }))
      const call = { sender: `0x${"11".repeat(20)}`, recipient: `0x${"22".repeat(20)}`, amount: "0", gasLimit: 21_000 }
      const rawTransactionHex = "ab".repeat(400_000)
      for (const [path, item] of [
        ["/hd-wallets/utxo/bitcoin/mainnet/xpub/transactions/prepare", { recipients, fee: {} }],
        ["/utils/utxo/bitcoin/mainnet/decode-raw-transaction", { rawTransactionHex }],
        ["/utils/evm/ethereum/mainnet/decode-raw-transaction", { rawTransactionHex }],
        ["/broadcast-transactions/bitcoin/mainnet", { signedTransactionHex: rawTransactionHex }],
        ["/simulate-transactions/evm/ethereum/mainnet", { ...call, inputData: `0x${"ab".repeat(131_072)}` }]
      ] as const) {
        const response = yield* Effect.promise(() =>
          fetch(`${url}${path}`, {
            method: "POST",
            headers: { "x-api-key": alice, "content-type": "application/json" },
            body: JSON.stringify({ data: { item } })
          })
        )
        const answer = yield* Effect.promise(() => response.text())
        assert.isBelow(response.status, 300, `${path} ${answer.slice(0, 300)}`)
      }
    })
  )

  it.effect("decodes an account's raw transactions one after another, each of which may have megabytes of answer", () =>
    Effect.gen(function* () {
      const { alice, insides, url } = yield* TestServer
      const side = { now: 0, most: 0 }
      insides.work = Effect.gen(function* () {
        side.most = Math.max(side.most, ++side.now)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
        side.now--
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(insides, { work: Effect.void })))
      const answers = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? "utxo/bitcoin" : "evm/ethereum")),
        (path) =>
          send(url, {
            method: "POST",
            path: `/utils/${path}/mainnet/decode-raw-transaction`,
            key: alice,
            body: JSON.stringify({ data: { item: { rawTransactionHex: "ab" } } })
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
      assert.strictEqual(side.most, 1)
    })
  )

  it.effect("lets scripts of the allowed origins call it, and no others", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const preflight = (origin: string) =>
        send(url, {
          method: "OPTIONS",
          path: "/credits/balance",
          headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": "x-api-key" }
        })
      const allowed = yield* preflight("https://app.example.com")
      assert.strictEqual(allowed.status, 204)
      assert.strictEqual(allowed.headers.get("access-control-allow-origin"), "https://app.example.com")
      assert.include(allowed.headers.get("access-control-allow-headers")!, "x-api-key")
      // Of a reader that goes on with the server-sent events.
      assert.include(allowed.headers.get("access-control-allow-headers")!, "last-event-id")
      const other = yield* preflight("https://evil.example.com")
      assert.notStrictEqual(other.headers.get("access-control-allow-origin"), "https://evil.example.com")
      // A script may read why it was refused, also where no operation has looked at the request.
      for (const headers of [{ "x-api-version": "2020-01-01" }, { "content-encoding": "gzip" }]) {
        const refused = yield* send(url, {
          ...{ method: "POST", path: "/domains", key: alice, body: {} },
          headers: { ...headers, origin: "https://app.example.com" }
        })
        assert.oneOf(refused.status, [400, 415])
        assert.strictEqual(refused.headers.get("access-control-allow-origin"), "https://app.example.com", refused.text)
      }
    })
  )

  it.effect("packs its document for whoever takes that", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const accepted = ["gzip", "br, GZIP;q=0.5", "identity", "br", "gzip;q=0", "gzip; q=0.0, br"]
      const answers = yield* Effect.forEach(accepted, (coding) =>
        Effect.promise(async () => {
          const answer = await fetch(`${url}/openapi.json`, { headers: { "accept-encoding": coding } })
          const { openapi } = (await answer.json()) as { readonly openapi: string }
          return [answer.headers.get("content-encoding"), openapi]
        })
      )
      const [packed, plain] = [
        ["gzip", "3.1.0"],
        [null, "3.1.0"]
      ]
      assert.deepStrictEqual(answers, [packed, packed, plain, plain, plain, plain])
    })
  )

  it.effect("shows its document and its docs page to everybody", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const { body } = yield* send(url, { path: "/openapi.json" })
      assert.strictEqual(body.openapi, "3.1.0")
      const docs = yield* Effect.promise(() => fetch(`${url}/docs`))
      assert.include(docs.headers.get("content-type")!, "text/html")
      const page = yield* Effect.promise(() => docs.text())
      assert.include(page, "Costs 30 credits")
      assert.isBelow(page.length, 600_000)
      assert.include(
        page,
        "<li><code>fee.priority</code> (<code>slow</code>, <code>standard</code> or <code>fast</code>; required)"
      )
      assert.notInclude(page, "undefined")
      for (const { operationId, path } of operations) {
        assert.include(page, `<details id="${operationId}">`)
        assert.include(page, `<code>${path}</code>`)
      }
      for (const event of Object.keys(document.webhooks)) assert.include(page, `<details id="${event}">`)
    })
  )
})

layer(testServer(store!, { allowedOrigins: ["https://app.example.com", "*"] }), { excludeTestServices: true })(
  "All origins",
  (it) => {
    it.effect("are allowed also beside one that is named", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const headers = { origin: "https://other.example.com" }
        const answer = yield* send(url, { path: "/credits/balance", key: alice, headers })
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
        assert.isNull(answer.headers.get("access-control-allow-credentials"))
      })
    )
  }
)

layer(testServer(store!, { idleConnections: 20 }), { excludeTestServices: true })("Idle connections", (it) => {
  it.effect(
    "are closed beyond their bound, those first that were silent for longest, and take no place of who asks",
    () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const { hostname, port } = new URL(url)
        const heads = ["", "GET /credits/balance HTTP/1.1\r\nx-slow: ", "POST /domains HTTP/1.1\r\n"]
        const open = (head: string) =>
          new Promise<Socket>((resolve) => {
            const socket = connect({ host: hostname, port: Number(port) }, () => {
              socket.write(head)
              resolve(socket)
            })
            socket.on("error", () => {})
          })
        const sockets: Array<Socket> = []
        for (let i = 0; i < 100; i++) sockets.push(yield* Effect.promise(() => open(heads[i % heads.length]!)))
        for (let i = 0; i < 5; i++) {
          assert.strictEqual((yield* send(url, { path: "/credits/balance", key: alice })).status, 200)
        }
        while (sockets.filter(({ closed }) => !closed).length > 20) yield* Effect.sleep("10 millis")
        assert.isFalse(sockets.at(-1)!.closed)
        for (const socket of sockets) socket.destroy()
      })
  )
})

describe("Server", () => {
  it.live("answers what is under way when it stops, and nothing new", () =>
    Effect.gen(function* () {
      const slow = HttpRouter.add(
        "GET",
        "/slow",
        Effect.as(Effect.sleep("500 millis"), HttpServerResponse.text("done"))
      )
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Server.serve(slow, { host: "127.0.0.1", port: 0, stopTimeoutMillis: 5_000 }),
        scope
      )
      const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
      const url = `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}/slow`
      const [answer] = yield* Effect.all(
        [
          Effect.promise(() => fetch(url).then((response) => response.text())),
          Effect.andThen(Effect.sleep("100 millis"), Scope.close(scope, Exit.void))
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answer, "done")
      const late = yield* Effect.promise(() => fetch(url).then(String, () => "refused"))
      assert.strictEqual(late, "refused")
    })
  )

  it.live("answers on connections that it has not come to yet when it stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Server.serve(HttpRouter.add("GET", "/", HttpServerResponse.text("done")), {
          ...{ host: "127.0.0.1", port: 0, stopTimeoutMillis: 5_000 }
        }),
        scope
      )
      const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
      const url = `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`
      // The system has made the connections before the server's loop gets round to any.
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => raw(url, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")),
        { concurrency: "unbounded" }
      ).pipe(Effect.forkChild({ startImmediately: true }))
      yield* Scope.close(scope, Exit.void)
      for (const text of yield* Fiber.join(answers)) assert.match(text, /^HTTP\/1.1 200 .*done/s)
    })
  )

  it.live("answers what comes over a kept connection as it stops, and says that the connection ends", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Server.serve(HttpRouter.add("GET", "/", HttpServerResponse.text("done")), {
          ...{ host: "127.0.0.1", port: 0, stopTimeoutMillis: 5_000 }
        }),
        scope
      )
      const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
      const port = address._tag === "UnixPathAddress" ? 0 : address.port
      const ask = "GET / HTTP/1.1\r\nhost: x\r\n\r\n"
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const answers = yield* Effect.callback<ReadonlyArray<string>>((resume) => {
        const received: Array<string> = []
        const socket = connect(port, "127.0.0.1", () => socket.write(ask))
        socket.on("data", (data) => {
          received.push(String(data))
          if (received.length > 1) return
          run(Scope.close(scope, Exit.void))
          const look = () =>
            connect(port, "127.0.0.1", () => setTimeout(look, 1)).once("error", () => socket.write(ask))
          look()
        })
        socket.on("close", () => resume(Effect.succeed(received)))
        socket.on("error", () => {})
      })
      assert.lengthOf(answers, 2)
      assert.match(answers[0]!, /connection: keep-alive.*done/is)
      assert.match(answers[1]!, /connection: close.*done/is)
    })
  )

  it.live("listens once there are routes: who came before would never be answered", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const routes = Layer.unwrap(
        Effect.as(Effect.sleep("300 millis"), HttpRouter.add("GET", "/", HttpServerResponse.text("done")))
      )
      yield* Effect.forkScoped(Layer.launch(Server.serve(routes, { host: "127.0.0.1", port })))
      const ask = Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(10_000) }).then(
          (response) => response.text(),
          (error) => error.cause?.code ?? error.name
        )
      )
      const answer = yield* Effect.repeat(ask, { while: (answer) => answer === "ECONNREFUSED" })
      assert.strictEqual(answer, "done")
    }).pipe(Effect.scoped)
  )

  it.live("stops in time when a request hangs, or has never been sent to its end", () =>
    Effect.gen(function* () {
      const hanging = HttpRouter.add("GET", "/hang", Effect.never)
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Server.serve(hanging, { host: "127.0.0.1", port: 0, stopTimeoutMillis: 300 }),
        scope
      )
      const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
      const url = `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`
      const open = Effect.all(
        [raw(url, "GET /hang HTTP/1.1\r\nhost: x\r\n\r\n"), raw(url, "GET /hang HTTP/1.1\r\nho")],
        { concurrency: "unbounded" }
      )
      const stop = Effect.andThen(Effect.sleep("100 millis"), Scope.close(scope, Exit.void))
      yield* Effect.all([open, stop], { concurrency: "unbounded" })
    })
  )
})
