import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Client from "@headwater/http/client"
import * as Effect from "effect/Effect"
import { build, type Rollup } from "vite"
import { stores } from "../../../test/Stores.ts"
import { TestServer, testServer } from "./TestServer.ts"

const [store] = stores
const place = { blockchain: "ethereum", network: "mainnet" }
const address = "0x52908400098527886E0F7030069857D2E4169EE7"
const create = "address-coins-transactions-confirmed"

const rejected = <A>(promise: () => Promise<A>) =>
  Effect.promise(() =>
    promise().then(
      () => assert.fail("was not rejected"),
      (failure: unknown) => failure
    )
  )

/** A `fetch` that does to the requests, in turns, what is given; then nothing. */
const faulty = (...faults: ReadonlyArray<"no answer" | "lost answer" | Response>) => {
  const urls: Array<string> = []
  const send = async (url: URL, init: RequestInit) => {
    const fault = faults[urls.length]
    urls.push(url.pathname)
    if (fault instanceof Response) return fault
    if (fault === "no answer") throw new TypeError("fetch failed")
    const answer = await fetch(url, init)
    if (fault === "lost answer") throw new TypeError("fetch failed")
    return answer
  }
  return { fetch: send, urls }
}

/** As the server makes them. */
const refusal = (status: number, code: string, retryAfter: string) =>
  Response.json(
    { apiVersion: "2024-12-12", requestId: "6f1b", error: { code, message: "later" } },
    { status, headers: { "retry-after": retryAfter } }
  )

layer(testServer(store!), { excludeTestServices: true })("the client of one fetch", (it) => {
  const item = { address, callbackUrl: "https://example.com/", receiveCallbackOn: 3 }

  it.effect("gives plain data, and rejects with the interface's errors", () =>
    Effect.gen(function* () {
      const { alice, insides, url } = yield* TestServer
      const client = Client.make({ baseUrl: url, apiKey: alice })
      const request = { params: place, payload: { data: { item: { ...item, address: address.toLowerCase() } } } }
      const made = yield* Effect.promise(() => client.subscriptions[create](request))
      assert.strictEqual(made.item.receiveCallbackOn, 3)
      const again = yield* rejected(() => client.subscriptions[create](request))
      assert.isTrue(Client.isServiceError(again, "already_exists"))
      assert.isFalse(Client.isServiceError(again, "invalid_data"))
      const wrong = yield* rejected(() =>
        client.subscriptions.list({ params: { blockchain: "ethereum", network: "a/b?c" } })
      )
      assert.isTrue(Client.isServiceError(wrong))
      const { _tag, details, requestId, status } = wrong as Client.ServiceError
      assert.deepStrictEqual(
        [_tag, status, typeof requestId, details[0]?.attribute],
        ["invalid_network", 400, "string", "network"]
      )
      const { referenceId } = made.item
      const deleted = yield* Effect.promise(() => client.subscriptions.delete({ params: { ...place, referenceId } }))
      assert.strictEqual(deleted.item.referenceId, referenceId)
      insides.broken = true
      const broken = yield* rejected(() => client.credits.balance())
      insides.broken = false
      assert.isTrue(Client.isServiceError(broken, "unexpected_server_error"))
    })
  )

  it.effect("asks again where the service is busy, or where no answer came and a second request does no more", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const busy = faulty(refusal(429, "request_limit_reached", "0"), refusal(503, "node_unavailable", "0"))
      const options = { baseUrl: url, apiKey: alice }
      yield* Effect.promise(() => Client.make({ ...options, fetch: busy.fetch }).credits.balance())
      assert.strictEqual(busy.urls.length, 3)

      const silent = faulty("no answer", "no answer")
      const impatient = Client.make({ ...options, fetch: silent.fetch, attempts: 2 })
      const failure = yield* rejected(() => impatient.credits.balance())
      assert.instanceOf(failure, Client.ConnectionFailed)
      assert.strictEqual(silent.urls.length, 2)

      const other = faulty("no answer")
      const params = { ...place, referenceId: "none" }
      assert.instanceOf(
        yield* rejected(() => Client.make({ ...options, fetch: other.fetch }).callbacks.test({ params })),
        Client.ConnectionFailed
      )
      assert.strictEqual(other.urls.length, 1)

      const given = new AbortController()
      const refused = faulty(refusal(429, "request_limit_reached", "3600"))
      const waiting = rejected(() =>
        Client.make({ ...options, fetch: refused.fetch }).credits.balance({}, { signal: given.signal })
      )
      setTimeout(() => given.abort(new Error("enough")), 50)
      assert.strictEqual(((yield* waiting) as Error).message, "enough")
    })
  )

  it.effect("makes one subscription where the answer was lost, and gives it", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const lossy = faulty("lost answer")
      const client = Client.make({ baseUrl: url, apiKey: alice, fetch: lossy.fetch })
      const made = yield* Effect.promise(() =>
        client.subscriptions[create]({ params: place, payload: { data: { item } } })
      )
      assert.strictEqual(made.item.receiveCallbackOn, 3)
      assert.strictEqual(lossy.urls.length, 3)
      const { items } = yield* Effect.promise(() => client.subscriptions.list({ params: place }))
      assert.include(
        items.map(({ referenceId }) => referenceId),
        made.item.referenceId
      )
      assert.strictEqual(items.filter((one) => one.address === address).length, 1)

      // What may be there twice is not asked for twice.
      const twice = Client.make({ baseUrl: url, apiKey: alice, fetch: faulty("lost answer").fetch })
      const duplicate = { ...item, allowDuplicates: true }
      assert.instanceOf(
        yield* rejected(() => twice.subscriptions[create]({ params: place, payload: { data: { item: duplicate } } })),
        Client.ConnectionFailed
      )
      const { referenceId } = made.item
      yield* Effect.promise(() => client.subscriptions.delete({ params: { ...place, referenceId } }))
    })
  )

  it.effect("reads lists page by page, by cursor and by offset", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      const pages = faulty()
      const client = Client.make({ baseUrl: url, apiKey: bob, fetch: pages.fetch })
      for (let i = 0; i < 5; i++) {
        const other = { ...item, address: `0x${String(i).padStart(40, "5")}` }
        yield* Effect.promise(() => client.subscriptions[create]({ params: place, payload: { data: { item: other } } }))
      }
      const read = <A>(all: AsyncIterable<A>) =>
        Effect.promise(async () => {
          const found: Array<A> = []
          for await (const one of all) found.push(one)
          return found
        })
      const before = pages.urls.length
      const subscriptions = yield* read(Client.items(client.subscriptions.list, { params: place, query: { limit: 2 } }))
      assert.strictEqual(new Set(subscriptions.map(({ referenceId }) => referenceId)).size, 5)
      assert.strictEqual(pages.urls.length - before, 3)

      const params = { ...place, address }
      const transfers = yield* read(
        Client.items(client.addresses.internalTransactions, { params, query: { limit: 50 } })
      )
      const { items, nextStartingAfter } = yield* Effect.promise(() =>
        client.addresses.internalTransactions({ params, query: { limit: 50 } })
      )
      assert.isDefined(nextStartingAfter)
      assert.deepStrictEqual(transfers.slice(0, 50), [...items])
      assert.isAbove(transfers.length, 50)
      assert.strictEqual(new Set(transfers.map((one) => JSON.stringify(one))).size, transfers.length)
    })
  )
})

describe("the client of one fetch", () => {
  it("is what the OpenAPI document says", { timeout: 60_000 }, () => {
    const program = fileURLToPath(new URL("../ClientInterface.ts", import.meta.url))
    // Where this fails: `node_modules/.bin/node packages/http/ClientInterface.ts` writes the files.
    execFileSync(process.execPath, [program, "--check"])
  })

  it("is small, and needs no other package", async () => {
    const entry = fileURLToPath(new URL("../src/client.ts", import.meta.url))
    const [built] = (await build({
      ...{ configFile: false, logLevel: "error" },
      build: { write: false, minify: true, target: "es2022", lib: { entry, formats: ["es"] } }
    })) as ReadonlyArray<Rollup.RollupOutput>
    const { code, imports } = built!.output[0]
    assert.deepStrictEqual(imports, [])
    const size = gzipSync(code).length
    console.log(`client of one fetch: ${code.length} bytes, ${size} compressed`)
    assert.isBelow(size, 10_000)
  })
})
