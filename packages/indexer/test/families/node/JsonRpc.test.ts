import { writeFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import * as Folder from "../../../../../test/Folder.ts"
import * as FakeNode from "../../FakeNode.ts"

type Behaviour = (calls: ReadonlyArray<FakeNode.Call>, response: ServerResponse, isBatch: boolean) => void

/** A server that answers its first requests by `behaviours`, one each, and then goes on with the last. */
const misbehaving = (...behaviours: ReadonlyArray<Behaviour>) => {
  let requests = 0
  return Effect.map(
    FakeNode.http((request, response) => {
      void FakeNode.bodyOf(request).then((body) => {
        const asked = JSON.parse(body) as FakeNode.Call | ReadonlyArray<FakeNode.Call>
        const behaviour = behaviours[Math.min(requests++, behaviours.length - 1)]!
        behaviour([asked].flat() as ReadonlyArray<FakeNode.Call>, response, Array.isArray(asked))
      })
    }),
    ({ url }) => ({ url, requests: () => requests })
  )
}

const json =
  (answer: (calls: ReadonlyArray<FakeNode.Call>, isBatch: boolean) => unknown, status = 200, headers = {}): Behaviour =>
  (calls, response, isBatch) =>
    response.writeHead(status, headers).end(JSON.stringify(answer(calls, isBatch)))

const text =
  (body: string, status = 200): Behaviour =>
  (_, response) =>
    response.writeHead(status).end(body)

const echo: Behaviour = json((calls, isBatch) => {
  const answers = calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: call.params[0] ?? call.method }))
  return isBatch ? answers : answers[0]
})

const hangs: Behaviour = () => {}

const resets: Behaviour = (_, response) => response.destroy()

const numbered = (count: number): ReadonlyArray<JsonRpc.Call> =>
  Array.from({ length: count }, (_, index) => ({ method: "echo", params: [index] }))

const once = { attempts: 1 } as const

/** The error of one call to a server that always behaves so. */
const errorOf = (behaviour: Behaviour, calls = numbered(1), options: Partial<JsonRpc.JsonRpcOptions> = once) =>
  Effect.gen(function* () {
    const { url } = yield* misbehaving(behaviour)
    const rpc = yield* JsonRpc.make({ urls: [url], ...options })
    const error = yield* Effect.flip(rpc.batch(calls))
    assert.strictEqual("node" in error && error.node, new URL(url).host)
    return error
  })

const is = (error: NodeError, tag: NodeError["_tag"], pattern: RegExp) => {
  assert.strictEqual(error._tag, tag)
  assert.match(error.message, pattern)
}

describe("JsonRpc", () => {
  it.live("calls and batches, answers in the order of the calls whatever the order of the node", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* misbehaving(
        echo,
        json((calls) => calls.map((call) => ({ id: call.id, result: call.params[0] })).reverse())
      )
      const rpc = yield* JsonRpc.make({ urls: [url] })
      assert.strictEqual(yield* rpc.call("echo", ["0x1"]), "0x1")
      assert.deepStrictEqual(yield* rpc.batch(numbered(7)), [0, 1, 2, 3, 4, 5, 6])
      assert.deepStrictEqual(yield* rpc.batch([]), [])
      assert.strictEqual(requests(), 2)
      assert.strictEqual(rpc.node, new URL(url).host)
    })
  )

  it.live("splits batches at 100 calls", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* misbehaving(echo)
      const rpc = yield* JsonRpc.make({ urls: [url] })
      assert.deepStrictEqual(
        yield* rpc.batch(numbered(250)),
        Array.from({ length: 250 }, (_, index) => index)
      )
      assert.strictEqual(requests(), 3)
    })
  )

  it.live("a result of null is a result", () =>
    Effect.gen(function* () {
      const { url } = yield* misbehaving(json(([call]) => ({ id: call!.id, result: null, error: null })))
      const rpc = yield* JsonRpc.make({ urls: [url] })
      assert.isNull(yield* rpc.call("eth_getBlockByNumber", ["0x5", true]))
    })
  )

  it.live("sends credentials percent-decoded, path, query and extra headers; asks for no compression", () =>
    Effect.gen(function* () {
      const seen: Array<Record<string, unknown>> = []
      const { url } = yield* FakeNode.http((request, response) => {
        seen.push({ path: request.url, ...request.headers })
        void FakeNode.bodyOf(request).then((body) =>
          response.end(JSON.stringify({ id: JSON.parse(body).id, result: 1 }))
        )
      })
      const { port } = new URL(url)
      const rpc = yield* JsonRpc.make({
        urls: [`http://us%40er:p%3Ass%25@127.0.0.1:${port}/v1/key?a=b`],
        headers: { "x-token": "secret-token" }
      })
      assert.strictEqual(yield* rpc.call("m", []), 1)
      assert.strictEqual(seen[0]!.path, "/v1/key?a=b")
      assert.strictEqual(seen[0]!.authorization, `Basic ${Buffer.from("us@er:p:ss%").toString("base64")}`)
      assert.strictEqual(seen[0]!["x-token"], "secret-token")
      assert.isUndefined(seen[0]!["accept-encoding"])
      assert.strictEqual(rpc.node, `127.0.0.1:${port}`)
    })
  )

  it.live("no secret of the URL or headers reaches an error", () =>
    Effect.gen(function* () {
      const leak = json(([call]) => ({
        id: call!.id,
        error: {
          code: -32000,
          message:
            "key v1-abcdef of hunter2%21 (hunter2!) and tok-123 is over /v3/v1-abcdef?x=yyyy by Basic dXNlcjpodW50ZXIyIQ=="
        }
      }))
      const { url } = yield* misbehaving(leak)
      const rpc = yield* JsonRpc.make({
        urls: [`http://user:hunter2%21@127.0.0.1:${new URL(url).port}/v3/v1-abcdef?x=yyyy`],
        headers: { authorization: "tok-123" }
      })
      const error = yield* Effect.flip(rpc.call("m", []))
      assert.notMatch(JSON.stringify(error) + String(error), /hunter2|tok-123|yyyy|dXNlc/)
    })
  )

  it.live("a key of the path or of the query reaches no error by itself, and words do", () =>
    Effect.gen(function* () {
      const message = "mainnet: 0123456789abcdef of fedcba9876543210 and aaaaaaaaaaaaaaaa is over"
      const { url } = yield* misbehaving(json(([call]) => ({ id: call!.id, error: { code: -32000, message } })))
      const rpc = yield* JsonRpc.make({
        urls: [`${url}/v3/mainnet/0123456789abcdef?plan=free&key=fedcba9876543210`],
        headers: { authorization: "Bearer aaaaaaaaaaaaaaaa" }
      })
      const error = yield* Effect.flip(rpc.call("m", []))
      assert.include(error.message, "mainnet: *** of *** and *** is over")
    })
  )

  it.live("a key that begins as the user's name does, and one among others in a header, reach no error in part", () =>
    Effect.gen(function* () {
      const message = "demo-0123456789abcdef and fedcba9876543210 are over"
      const { url } = yield* misbehaving(json(([call]) => ({ id: call!.id, error: { code: -32000, message } })))
      const rpc = yield* JsonRpc.make({
        urls: [`${url.replace("//", "//demo:pass@")}/v3/demo-0123456789abcdef`],
        headers: { cookie: "session=fedcba9876543210; plan=free" }
      })
      const error = yield* Effect.flip(rpc.call("m", []))
      assert.include(error.message, "*** and *** are over")
    })
  )

  it.live("a cookie is read when it is needed, and again when the node refuses the one that it had", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped
      const cookie = join(folder, ".cookie")
      let accepted = "__cookie__:first-secret"
      const seen: Array<string | undefined> = []
      const { url } = yield* FakeNode.http((request, response) => {
        void FakeNode.bodyOf(request).then((body) => {
          seen.push(request.headers.authorization)
          const { id } = JSON.parse(body)
          const isRight = request.headers.authorization === `Basic ${Buffer.from(accepted).toString("base64")}`
          response.statusCode = isRight ? 200 : 401
          // A node that tells all that it knows.
          const error = { code: -1, message: `said ${request.headers.authorization} as ${accepted}` }
          response.end(JSON.stringify(body.includes("tell") ? { id, error } : { id, result: 1 }))
        })
      })
      const rpc = yield* JsonRpc.make({ urls: [url], cookie, attempts: 1 })
      const early = yield* Effect.flip(rpc.call("m", []))
      assert.match(early.message, /the cookie file .* cannot be read \(ENOENT\)/)
      assert.lengthOf(seen, 0)

      writeFileSync(cookie, `${accepted}\n`)
      assert.strictEqual(yield* rpc.call("m", []), 1)
      accepted = "__cookie__:second-secret"
      const refused = yield* Effect.flip(rpc.call("m", []))
      assert.match(refused.message, /HTTP 401: the node does not accept the credentials/)
      writeFileSync(cookie, accepted)
      seen.length = 0
      assert.deepStrictEqual(yield* Effect.all([rpc.call("m", []), rpc.call("m", [])], { concurrency: 2 }), [1, 1])
      assert.strictEqual(yield* rpc.call("m", []), 1)
      assert.lengthOf(seen, 5, "two refused, three answered")

      const told = yield* Effect.flip(rpc.call("tell", []))
      assert.notMatch(JSON.stringify(told) + String(told), /-secret|X19jb29raWV/)
      // A node that has credentials of its own is not given the cookie.
      const own = yield* JsonRpc.make({ urls: [url.replace("//", "//user:own@")], cookie, attempts: 1 })
      const other = yield* Effect.flip(own.call("m", []))
      assert.match(other.message, /HTTP 401/)
      assert.strictEqual(seen.at(-1), `Basic ${Buffer.from("user:own").toString("base64")}`)
      writeFileSync(cookie, "no credentials")
      accepted = "__cookie__:third-secret"
      assert.match((yield* Effect.flip(rpc.call("m", []))).message, /does not hold user:password/)
    })
  )

  it.live("an error of the node is NodeRejected with its code and message, not retried", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* misbehaving(
        json(([call]) => ({ id: call!.id, error: { code: -32601, message: "the method x does not exist" } }))
      )
      const rpc = yield* JsonRpc.make({ urls: [url] })
      const error = yield* Effect.flip(rpc.call("x", []))
      assert.deepInclude(error, { _tag: "NodeRejected", code: -32601, method: "x" })
      assert.match(error.message, /does not exist/)
      assert.strictEqual(requests(), 1)
    })
  )

  it.live("bitcoind's way: HTTP 500 and 404 with a JSON-RPC error are the node's own error", () =>
    Effect.gen(function* () {
      for (const status of [500, 404]) {
        const error = yield* errorOf(
          json(([call]) => ({ result: null, error: { code: -5, message: "Block not found" }, id: call!.id }), status),
          [{ method: "getblock", params: [] }]
        )
        assert.deepInclude(error, { _tag: "NodeRejected", code: -5, method: "getblock" })
      }
    })
  )

  it.live("malformed errors are still errors", () =>
    Effect.gen(function* () {
      for (const error of ["no", 5, {}, { code: "1", message: 7 }, { message: "x".repeat(10_000) }]) {
        const failure = yield* errorOf(json(([call]) => ({ id: call!.id, error })))
        assert.deepInclude(failure, { _tag: "NodeRejected", code: 0 })
        assert.isAtMost(failure.message.length, 300)
      }
    })
  )

  describe("retries until the node is well again", () => {
    const passing: Record<string, Behaviour> = {
      "HTTP 429": text("slow down", 429),
      "HTTP 429 with a JSON-RPC error": json(([call]) => ({ id: call!.id, error: { code: 1, message: "no" } }), 429),
      "HTTP 503": text("", 503),
      "HTTP 502 with HTML": text("<html>Bad gateway</html>", 502),
      "-32005 limit exceeded": json(([call]) => ({ id: call!.id, error: { code: -32005, message: "limit" } })),
      "-28 warming up": json(
        ([call]) => ({ id: call!.id, error: { code: -28, message: "Loading block index…" } }),
        500
      ),
      "a rate limit in words": json(([call]) => ({ id: call!.id, error: { code: -1, message: "Rate limit reached" } })),
      "a connection reset": resets,
      "an HTML body": text("<!doctype html><h1>Sign in</h1>"),
      "truncated JSON": text('{"jsonrpc":"2.0","id":1,"result":{"number"'),
      "an empty body": text(""),
      "a body shorter than announced": (_, response) => {
        response.writeHead(200, { "content-length": 1000 })
        response.write("{")
        setTimeout(() => response.destroy(), 10)
      },
      "a broken chunk": (_, response) => {
        response.socket!.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")
      },
      "no HTTP at all": (_, response) => {
        response.socket!.end("SSH-2.0-OpenSSH_9\r\n")
      },
      "a foreign id": json(() => ({ id: 999_999, result: 1 })),
      "neither result nor error": json(([call]) => ({ id: call!.id })),
      "a number instead of an object": text("5"),
      "compression that was not asked for": (calls, response) => {
        const body = gzipSync(JSON.stringify({ id: calls[0]!.id, result: 0 }))
        response.writeHead(200, { "content-encoding": "gzip" }).end(body)
      }
    }
    for (const [name, behaviour] of Object.entries(passing)) {
      it.live(name, () =>
        Effect.gen(function* () {
          const { url, requests } = yield* misbehaving(behaviour, echo)
          const rpc = yield* JsonRpc.make({ urls: [url] })
          assert.strictEqual(yield* rpc.call("echo", ["well"]), "well")
          assert.strictEqual(requests(), 2)
        })
      )
    }
  })

  it.live("gives up after the attempts, with the last error", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* misbehaving(text("", 502))
      const rpc = yield* JsonRpc.make({ urls: [url], attempts: 3 })
      is(yield* Effect.flip(rpc.call("m", [])), "NodeUnreachable", /HTTP 502/)
      assert.strictEqual(requests(), 3)
    })
  )

  it.live("401 and 403 say so, without the credentials", () =>
    Effect.gen(function* () {
      is(yield* errorOf(text("", 401)), "NodeUnreachable", /HTTP 401.*credentials/)
      is(yield* errorOf(text("<html>", 403)), "NodeUnreachable", /HTTP 403/)
      is(yield* errorOf(text("", 400)), "NodeUnreachable", /HTTP 400/)
    })
  )

  it.live("a refused connection names host and port", () =>
    Effect.gen(function* () {
      const port = yield* Effect.callback<number>((resume) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          server.close(() => resume(Effect.succeed(port)))
        })
      })
      const rpc = yield* JsonRpc.make({ urls: [`http://user:hunter2@127.0.0.1:${port}`], attempts: 1 })
      const error = yield* Effect.flip(rpc.call("m", []))
      is(error, "NodeUnreachable", /ECONNREFUSED/)
      assert.strictEqual("node" in error && error.node, `127.0.0.1:${port}`)
      assert.notMatch(JSON.stringify(error), /hunter2/)
    })
  )

  it.live("answers that contradict the batch are NodeInconsistent", () =>
    Effect.gen(function* () {
      const two = numbered(2)
      const answers = (make: (ids: ReadonlyArray<number>) => unknown) =>
        errorOf(
          json((calls) => make(calls.map((call) => call.id))),
          two
        )
      is(yield* answers(([a]) => [{ id: a, result: 1 }]), "NodeInconsistent", /1 answers to 2 calls/)
      is(yield* answers(() => []), "NodeInconsistent", /0 answers/)
      is(yield* answers(([a]) => Array(2).fill({ id: a, result: 1 })), "NodeInconsistent", /same id/)
      is(
        yield* answers(([a]) => [
          { id: a, result: 1 },
          { id: -1, result: 1 }
        ]),
        "NodeInconsistent",
        /not asked/
      )
      is(
        yield* answers(([a, b]) => [
          { id: a, result: 1 },
          { id: String(b), result: 1 }
        ]),
        "NodeInconsistent",
        /not asked/
      )
      is(yield* answers(([a, b]) => [{ id: a, result: 1 }, { id: b }]), "NodeInconsistent", /neither/)
      is(yield* answers(([a]) => [{ id: a, result: 1 }, null]), "NodeInconsistent", /not an object/)
      is(yield* answers(([a]) => ({ id: a, result: 1 })), "NodeInconsistent", /one answer/)
      is(yield* answers(([a, b]) => [a, b, b].map((id) => ({ id, result: 1 }))), "NodeInconsistent", /same id/)
    })
  )

  it.live("a batch fails with the error of its failed call, under that call's method", () =>
    Effect.gen(function* () {
      const error = yield* errorOf(
        json((calls) =>
          calls.map((call) =>
            call.method === "bad" ? { id: call.id, error: { code: -32000, message: "no" } } : { id: call.id, result: 1 }
          )
        ),
        [
          { method: "good", params: [] },
          { method: "bad", params: [] }
        ]
      )
      assert.deepInclude(error, { _tag: "NodeRejected", method: "bad", code: -32000 })
    })
  )

  it.live("results tells the failed calls of a batch from the others", () =>
    Effect.gen(function* () {
      const { url, requests } = yield* misbehaving(
        json((calls) =>
          calls.map((call, index) =>
            index === 1
              ? { id: call.id, error: { code: 3, message: "execution reverted" } }
              : { id: call.id, result: index }
          )
        )
      )
      const rpc = yield* JsonRpc.make({ urls: [url] })
      const [first, second, third] = yield* rpc.results(numbered(3))
      assert.deepStrictEqual([first, third], [Result.succeed(0), Result.succeed(2)])
      assert.deepInclude(Result.isFailure(second!) ? second.failure : {}, { _tag: "NodeRejected", code: 3 })
      assert.deepStrictEqual(yield* rpc.results([]), [])
      assert.strictEqual(requests(), 1)
    })
  )

  it.live("a rate limit on one call of a batch is a reason to try the batch again", () =>
    Effect.gen(function* () {
      const limited = json((calls) =>
        calls.map((call, index) =>
          index === 1 ? { id: call.id, error: { code: -32005, message: "limit" } } : { id: call.id, result: 0 }
        )
      )
      const { url, requests } = yield* misbehaving(limited, echo)
      const rpc = yield* JsonRpc.make({ urls: [url] })
      assert.deepStrictEqual(yield* rpc.batch(numbered(3)), [0, 1, 2])
      assert.strictEqual(requests(), 2)
    })
  )

  describe("a node that refuses batches gets smaller ones, down to single calls, and is remembered", () => {
    const refusals: Record<string, Behaviour> = {
      "a single error object": json(() => ({ id: null, error: { code: -32600, message: "Invalid Request" } })),
      "an error under no id for each call": json((calls) =>
        calls.map(() => ({ id: null, error: { code: -32600, message: "Invalid Request" } }))
      ),
      "an error without an id for each call": json((calls) =>
        calls.map(() => ({ error: { code: -32600, message: "Invalid Request" } }))
      ),
      "one error in an array": json(([call]) => [
        { id: call!.id, error: { code: -32600, message: "batch too large" } }
      ]),
      "HTTP 413": text("", 413),
      "HTTP 400 with HTML": text("<html>", 400)
    }
    for (const [name, refusal] of Object.entries(refusals)) {
      for (const limit of [1, 10]) {
        it.live(`${name}, limit ${limit}`, () =>
          Effect.gen(function* () {
            const { url, requests } = yield* misbehaving((calls, response, isBatch) =>
              (calls.length > limit ? refusal : echo)(calls, response, isBatch)
            )
            const rpc = yield* JsonRpc.make({ urls: [url] })
            const expected = Array.from({ length: 120 }, (_, index) => index)
            assert.deepStrictEqual(yield* rpc.batch(numbered(120)), expected)
            const before = requests()
            assert.deepStrictEqual(yield* rpc.batch(numbered(120)), expected)
            assert.isAtMost(requests() - before, limit === 1 ? 120 : 20)
          })
        )
      }
    }
    it.live("answers too large together are asked for one by one, this time only", () =>
      Effect.gen(function* () {
        const tooLarge = json((calls) =>
          calls.map((call, index) =>
            index === 0
              ? { id: call.id, result: 0 }
              : { id: call.id, error: { code: -32003, message: "response too large" } }
          )
        )
        const { url, requests } = yield* misbehaving(tooLarge, echo)
        const rpc = yield* JsonRpc.make({ urls: [url] })
        assert.deepStrictEqual(yield* rpc.batch(numbered(2)), [0, 1])
        assert.strictEqual(requests(), 3)
        assert.deepStrictEqual(yield* rpc.batch(numbered(2)), [0, 1])
        assert.strictEqual(requests(), 4)
      })
    )
  })

  it.live("an answer that does not come in time is NodeUnreachable, also when it trickles", () =>
    Effect.gen(function* () {
      is(yield* errorOf(hangs, undefined, { ...once, timeoutMillis: 50 }), "NodeUnreachable", /within 50 ms/)
      const trickles: Behaviour = (_, response) => {
        const timer = setInterval(() => response.write(" "), 10)
        response.on("close", () => clearInterval(timer))
      }
      is(yield* errorOf(trickles, undefined, { ...once, timeoutMillis: 100 }), "NodeUnreachable", /within 100 ms/)
    })
  )

  it.live("waiting for a free connection does not count as slowness of the node", () =>
    Effect.gen(function* () {
      const slow: Behaviour = (calls, response, isBatch) => setTimeout(() => echo(calls, response, isBatch), 200)
      const { url } = yield* misbehaving(slow)
      const rpc = yield* JsonRpc.make({ urls: [url], connections: 1, timeoutMillis: 1_000, attempts: 1 })
      const all = yield* Effect.forEach(numbered(6), (call) => rpc.call(call.method, call.params), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(all, [0, 1, 2, 3, 4, 5])
    })
  )

  it.live("interruption aborts the request", () =>
    Effect.gen(function* () {
      let began = 0
      let aborted = 0
      const { url } = yield* FakeNode.http((request, response) => {
        request.resume()
        began++
        response.on("close", () => aborted++)
      })
      const rpc = yield* JsonRpc.make({ urls: [url] })
      const fiber = yield* Effect.forkChild(rpc.call("m", []))
      while (began === 0) yield* Effect.sleep(5)
      yield* Fiber.interrupt(fiber)
      for (let wait = 0; wait < 100 && aborted === 0; wait++) yield* Effect.sleep(5)
      assert.strictEqual(aborted, 1)
    })
  )

  it.live("reuses its connections", () =>
    Effect.gen(function* () {
      const sockets = new Set<unknown>()
      const { url } = yield* FakeNode.http((request, response) => {
        sockets.add(request.socket)
        void FakeNode.bodyOf(request).then((body) =>
          response.end(JSON.stringify({ id: JSON.parse(body).id, result: 1 }))
        )
      })
      const rpc = yield* JsonRpc.make({ urls: [url], connections: 2 })
      yield* Effect.forEach(numbered(50), (call) => rpc.call(call.method, call.params), { concurrency: 10 })
      assert.isAtMost(sockets.size, 2)
    })
  )

  describe("several nodes", () => {
    it.effect("a failed one is left at once for the next, and preferred again after its rest", () =>
      Effect.gen(function* () {
        const first = yield* misbehaving(resets, echo)
        const second = yield* misbehaving(echo)
        const rpc = yield* JsonRpc.make({ urls: [first.url, second.url] })
        // No time passes meanwhile.
        assert.strictEqual(yield* rpc.call("echo", [1]), 1)
        assert.strictEqual(rpc.node, new URL(second.url).host)
        assert.strictEqual(yield* rpc.call("echo", [2]), 2)
        assert.strictEqual(first.requests(), 1)
        yield* TestClock.adjust("1100 millis")
        assert.strictEqual(yield* rpc.call("echo", [3]), 3)
        assert.strictEqual(rpc.node, new URL(first.url).host)
      })
    )

    it.live("one that hangs is not waited for again after a second", () =>
      Effect.gen(function* () {
        const first = yield* misbehaving(hangs)
        const second = yield* misbehaving(echo)
        const rpc = yield* JsonRpc.make({ urls: [first.url, second.url], timeoutMillis: 1_500 })
        assert.strictEqual(yield* rpc.call("echo", [1]), 1)
        yield* Effect.sleep(1_100)
        assert.strictEqual(yield* rpc.call("echo", [2]), 2)
        assert.strictEqual(first.requests(), 1)
      })
    )

    it.live("a batch is answered by one node alone", () =>
      Effect.gen(function* () {
        const named = (name: string, behaviour?: Behaviour) =>
          misbehaving(
            ...(behaviour === undefined ? [] : [behaviour]),
            json((calls) => calls.map((call) => ({ id: call.id, result: name })))
          )
        const first = yield* named("first", text("", 500))
        const second = yield* named("second")
        const rpc = yield* JsonRpc.make({ urls: [first.url, second.url] })
        assert.deepStrictEqual(new Set(yield* rpc.batch(numbered(300))), new Set(["second"]))
      })
    )

    it.live("an error of the node's own is not asked elsewhere", () =>
      Effect.gen(function* () {
        const first = yield* misbehaving(json(([call]) => ({ id: call!.id, error: { code: -32602, message: "bad" } })))
        const second = yield* misbehaving(echo)
        const rpc = yield* JsonRpc.make({ urls: [first.url, second.url] })
        is(yield* Effect.flip(rpc.call("m", [])), "NodeRejected", /bad/)
        assert.strictEqual(second.requests(), 0)
      })
    )

    it.live("all failing: the call fails in bounded time", () =>
      Effect.gen(function* () {
        const first = yield* misbehaving(resets)
        const second = yield* misbehaving(resets)
        const rpc = yield* JsonRpc.make({ urls: [first.url, second.url], attempts: 4 })
        is(yield* Effect.flip(rpc.call("m", [])), "NodeUnreachable", /closed|reset/i)
        assert.strictEqual(first.requests() + second.requests(), 4)
      })
    )
  })

  it.live("honours Retry-After", () =>
    Effect.gen(function* () {
      const limited: Behaviour = (_, response) => response.writeHead(429, { "retry-after": "1" }).end()
      const { url } = yield* misbehaving(limited, echo)
      const rpc = yield* JsonRpc.make({ urls: [url] })
      const started = performance.now()
      assert.strictEqual(yield* rpc.call("echo", [1]), 1)
      assert.isAtLeast(performance.now() - started, 990)
    })
  )

  it.live("decimalText keeps amounts exact", () =>
    Effect.gen(function* () {
      const { url } = yield* misbehaving((calls, response) =>
        response.end(`{"result":{"value":12345678901.12345678,"tiny":1e-8,"n":1},"error":null,"id":${calls[0]!.id}}`)
      )
      const rpc = yield* JsonRpc.make({ urls: [url] })
      assert.deepStrictEqual(yield* rpc.call("getblock", [], "decimalText"), {
        value: "12345678901.12345678",
        tiny: "1e-8",
        n: 1
      })
    })
  )

  it.live("a URL that is not http is refused", () =>
    Effect.gen(function* () {
      for (const urls of [["ftp://x"], ["http://127.0.0.1", "nonsense"]] as const) {
        const exit = yield* Effect.exit(JsonRpc.make({ urls }))
        assert.strictEqual(exit._tag, "Failure")
      }
    })
  )
})
