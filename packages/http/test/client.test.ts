import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Client from "@headwater/http/client"
import * as Effect from "effect/Effect"
import { build, type Rollup } from "vite"
import * as LocalServer from "../../../test/LocalServer.ts"
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

type Faults = ReadonlyArray<"no answer" | "lost answer" | "store failed" | Response>

/**
 * A `fetch` that does to the requests, in turns, what is given; then nothing. "store failed": the store has carried out what was
 * asked, and was gone before it could say so.
 */
const faulty = (...faults: Faults) => {
  const urls: Array<string> = []
  const send = async (url: URL, init: RequestInit) => {
    const fault = faults[urls.length]
    urls.push(url.pathname)
    if (fault instanceof Response) return fault
    if (fault === "no answer") throw new TypeError("fetch failed")
    const answer = await fetch(url, init)
    if (fault === "lost answer") throw new TypeError("fetch failed")
    if (fault === "store failed") return refusal(503, "node_unavailable", "0")
    return answer
  }
  return { fetch: send, urls }
}

/** A `fetch`, and a signal that stops what it began once an answer has begun. */
const stoppedAtAnswer = () => {
  const controller = new AbortController()
  const send = async (url: URL, init: RequestInit) => {
    const response = await fetch(url, init)
    setImmediate(() => controller.abort("enough"))
    return response
  }
  return { fetch: send, signal: controller.signal }
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

      const signal = AbortSignal.timeout(50)
      const refused = faulty(refusal(429, "request_limit_reached", "60"))
      const stopped = yield* rejected(() =>
        Client.make({ ...options, fetch: refused.fetch }).credits.balance({}, { signal })
      )
      assert.strictEqual(stopped, signal.reason)
      assert.strictEqual(refused.urls.length, 1)

      // A limit by the hour holds nobody up, nor does one that no timer can have.
      for (const seconds of ["3600", "99999999"]) {
        const hourly = faulty(refusal(429, "request_limit_reached", seconds))
        const failure = yield* rejected(() => Client.make({ ...options, fetch: hourly.fetch }).credits.balance())
        assert.strictEqual((failure as Client.ServiceError).retryAfter, Number(seconds))
        assert.strictEqual(hourly.urls.length, 1)
      }
    })
  )

  it.effect("makes one subscription where the answer was lost, and gives it", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      // What was made twice is there afterwards: no other test has the address.
      const address = `0x${"7".repeat(40)}`
      const item = { address, callbackUrl: "https://example.com/", receiveCallbackOn: 3 }
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

      // One that there was before is the one that is asked for where its secret is, too; all is as in the answer of its making.
      const least = { address, callbackUrl: "https://example.com/least" }
      const request = {
        params: place,
        payload: { data: { item: { ...least, callbackSecretKey: "0123456789abcdef" } } }
      }
      const plain = Client.make({ baseUrl: url, apiKey: alice })
      const first = yield* Effect.promise(() => plain.subscriptions[create](request))
      const retrying = () => Client.make({ baseUrl: url, apiKey: alice, fetch: faulty("no answer").fetch })
      const again = yield* Effect.promise(() => retrying().subscriptions[create](request))
      assert.containSubset(again.item, first.item)
      const unsigned = { params: place, payload: { data: { item: least } } }
      const other = yield* rejected(() => retrying().subscriptions[create](unsigned))
      assert.isTrue(Client.isServiceError(other, "already_exists"))

      // Active already is as active as it was asked to be.
      const params = { ...place, referenceId: first.item.referenceId }
      const activated = yield* Effect.promise(() => retrying().subscriptions.activate({ params }))
      assert.isTrue(activated.item.isActive)
      assert.isTrue(
        Client.isServiceError(yield* rejected(() => plain.subscriptions.activate({ params })), "invalid_data")
      )
      for (const { referenceId } of [made.item, first.item])
        yield* Effect.promise(() => client.subscriptions.delete({ params: { ...place, referenceId } }))
    })
  )

  it.effect("makes one subscription on a key, whose secret it sets once, where the answers were lost", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const lossy = () => Client.make({ baseUrl: url, apiKey: alice, fetch: faulty("lost answer").fetch })
      // BIP-32, test vector 1, chain m/0'.
      const extendedPublicKey =
        "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
      const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
      const item = {
        eventType,
        callbackUrl: "https://example.com/key",
        callbackSecretKey: "",
        extendedPublicKey,
        window: 1
      } as const
      const made = yield* Effect.promise(() =>
        lossy().extendedKeys.create({ params: place, payload: { data: { item } } })
      )
      assert.strictEqual(made.item.callbackSecretKey, "")
      const params = { ...place, referenceId: made.item.referenceId }
      const payload = { data: { item: { callbackSecretKey: "first" } } }
      const rotated = yield* Effect.promise(() => lossy().callbacks.rotateSecret({ params, payload }))
      assert.strictEqual(rotated.item.callbackSecretKey, "first")
      const { items } = yield* Effect.promise(() => lossy().subscriptions.list({ params: place, query: { limit: 50 } }))
      assert.strictEqual(items.filter(({ callbackUrl }) => callbackUrl === item.callbackUrl).length, 1)
      yield* Effect.promise(() =>
        lossy()
          .subscriptions.delete({ params })
          .catch(() => undefined)
      )
    })
  )

  it.effect("makes one subscription where the store fails behind the commit, and gives it", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const address = `0x${"8".repeat(40)}`
      const item = { address, callbackUrl: "https://example.com/", receiveCallbackOn: 3 }
      const failing = (...faults: Faults) =>
        Client.make({ baseUrl: url, apiKey: alice, fetch: faulty(...faults).fetch })
      const made = yield* Effect.promise(() =>
        failing("store failed").subscriptions[create]({ params: place, payload: { data: { item } } })
      )
      // What may be there twice is not asked for twice, unless the service says that it was refused.
      const duplicate = { params: place, payload: { data: { item: { ...item, allowDuplicates: true } } } }
      const failure = yield* rejected(() => failing("store failed").subscriptions[create](duplicate))
      assert.isTrue(Client.isServiceError(failure, "node_unavailable"))
      const list = { blockchain: "ethereum", network: "mainnet" }
      const { items } = yield* Effect.promise(() => failing().subscriptions.list({ params: list }))
      const own = items.filter((one) => one.address === address)
      assert.strictEqual(own.length, 2)
      assert.include(
        own.map(({ referenceId }) => referenceId),
        made.item.referenceId
      )
      const limited = failing(refusal(429, "request_limit_reached", "0"))
      const third = yield* Effect.promise(() => limited.subscriptions[create](duplicate))
      for (const { referenceId } of [...own, third.item])
        yield* Effect.promise(() => failing().subscriptions.delete({ params: { ...place, referenceId } }))
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

describe("the client of one fetch, to whatever answers", () => {
  const never = () => Promise.reject(new Error("was asked"))
  const path = { blockchain: "ethereum", network: "mainnet" }

  it.live("takes its key nowhere else", () =>
    Effect.gen(function* () {
      const keys: Array<unknown> = []
      const other = yield* LocalServer.http(({ headers }, response) => {
        keys.push(headers["x-api-key"])
        response.end("{}")
      })
      const moved = yield* LocalServer.http((_, response) => response.writeHead(307, { location: other }).end())
      const client = Client.make({ baseUrl: moved, apiKey: "hw_secret", attempts: 1 })
      assert.instanceOf(yield* rejected(() => client.credits.balance()), Client.ConnectionFailed)
      assert.deepStrictEqual(keys, [])
      assert.throws(() => Client.make({ baseUrl: moved, apiKey: "hw_\nsecret" }), /^apiKey: must have printable ASCII/)
      Client.make({ baseUrl: moved, apiKey: "hw_secret\n" })
    })
  )

  it.effect("asks for no other operation than its own", () =>
    Effect.gen(function* () {
      const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", fetch: never, attempts: 1 })
      for (const referenceId of ["", ".", "..", undefined as unknown as string]) {
        const failure = yield* rejected(() => client.subscriptions.delete({ params: { ...path, referenceId } }))
        assert.match((failure as Error).message, /^params\.referenceId: must be given/)
      }
      const urls: Array<string> = []
      const fetch = (url: URL) => {
        urls.push(url.pathname)
        return never()
      }
      const names = Client.make({ baseUrl: "http://127.0.0.1:9/base/", apiKey: "hw_none", fetch, attempts: 1 })
      for (const domain of ["a/../b", "%2e%2e", "ü?#"])
        yield* rejected(() => names.domains.verify({ params: { domain } }))
      assert.deepStrictEqual(urls, [
        "/base/domains/a%2F..%2Fb/verify",
        "/base/domains/%252e%252e/verify",
        "/base/domains/%C3%BC%3F%23/verify"
      ])
    })
  )

  it.effect("rejects what is not the service's answer", () =>
    Effect.gen(function* () {
      for (const [text, status] of [
        ["<h1>Bad gateway</h1>", 502],
        ['{"message":"Service Unavailable"}', 503],
        ['"busy"', 500],
        ["null", 500],
        ["null", 200],
        ["{}", 200],
        ["", 200]
      ] as const) {
        const fetch = async () => new Response(text, { status })
        const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", fetch, attempts: 1 })
        assert.instanceOf(yield* rejected(() => client.credits.balance()), Client.ConnectionFailed, text)
      }
    })
  )

  it.effect("rejects what no answer of the service is like, and what a fetch throws at once", () =>
    Effect.gen(function* () {
      const answered = (body: unknown, status = 200) => {
        const fetch = async () => Response.json(body, { status })
        const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", fetch, attempts: 1 })
        return rejected(() => client.credits.balance())
      }
      for (const data of [null, 5, "text"]) assert.instanceOf(yield* answered({ data }), Client.ConnectionFailed)
      for (const code of [5, {}]) assert.instanceOf(yield* answered({ error: { code } }, 400), Client.ConnectionFailed)
      for (const details of [null, "text"]) {
        const failure = yield* answered({ error: { code: "invalid_data", details } }, 400)
        assert.deepStrictEqual((failure as Client.ServiceError).details, [])
      }
      const fetch = () => {
        throw new Error("at once")
      }
      const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", fetch, attempts: 1 })
      assert.instanceOf(yield* rejected(() => client.credits.balance()), Client.ConnectionFailed)
    })
  )

  it.effect("calls no subscription active that is not, where the answer was lost and another conflict is told", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const fetch = async (_: URL, { method }: RequestInit) => {
        if (asked.push(method!) === 1) throw new TypeError("fetch failed")
        return method === "POST"
          ? Response.json({ error: { code: "invalid_data", message: "as many as may be" } }, { status: 409 })
          : Response.json({ data: { item: { referenceId: "a", isActive: false } } })
      }
      const client = Client.make({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none", fetch })
      const failure = yield* rejected(() => client.subscriptions.activate({ params: { ...path, referenceId: "a" } }))
      assert.strictEqual((failure as Error).message, "as many as may be")
      assert.deepStrictEqual(asked, ["POST", "POST", "GET"])
    })
  )

  it.effect("is rejected where the pages of a list lead to no end, or to none that is said", () =>
    Effect.gen(function* () {
      const read = (...pages: ReadonlyArray<object>) => {
        let asked = 0
        const list = async () => pages[asked++ % pages.length] as { readonly items: ReadonlyArray<number> }
        return async () => {
          const found: Array<number> = []
          for await (const one of Client.items(list, {})) if (found.push(one) > 9) assert.fail("went on and on")
          return found
        }
      }
      const after = (nextStartingAfter: string, items = [1]) => ({ items, hasMore: true, nextStartingAfter })
      for (const pages of [
        [after("a")],
        [after("a"), after("b"), after("c", [])],
        // What is left would be taken for nothing.
        [{ items: [1], hasMore: true }],
        [{ items: [1, 2], offset: 0, total: 9 }],
        [{ items: [1], offset: -5, total: 9 }],
        [{ items: null }],
        [{}]
      ]) {
        const failure = yield* rejected(read(...pages))
        assert.instanceOf(failure, Client.ConnectionFailed, JSON.stringify(pages))
      }
      const whole = read(after("a", []), after("b"), { items: [2], hasMore: false, nextStartingAfter: "b" })
      assert.deepStrictEqual(yield* Effect.promise(whole), [1, 2])
    })
  )

  it.effect("asks where its base is, with the key alone, and for as long as a timer can", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const fetch = async (url: URL, { headers, signal }: RequestInit) => {
        asked.push(`${url} ${new Headers(headers).get("x-api-key")} ${signal?.aborted}`)
        return Response.json({ data: {} })
      }
      const ask = (options: object) =>
        Effect.promise(() => Client.make({ baseUrl: "http://a/b/", apiKey: "k", fetch, ...options }).credits.balance())
      // With the path behind these, another place would be asked.
      yield* ask({ baseUrl: "http://a/b?c=d" })
      yield* ask({ baseUrl: new URL("http://a/b/#c") })
      yield* ask({ apiKey: "\u00a0k\v" })
      yield* ask({ timeoutMillis: 1 / 0 })
      yield* ask({ timeoutMillis: 1_000.5 })
      const plain = "http://a/b/credits/balance k false"
      assert.deepStrictEqual(
        asked.map((one) => one.replace("#c", "")),
        ["http://a/b/credits/balance?c=d k false", ...Array.from({ length: 4 }, () => plain)]
      )
      for (const wrong of [
        { attempts: Number.NaN },
        { attempts: 0 },
        { timeoutMillis: Number.NaN },
        { timeoutMillis: 0 }
      ]) {
        assert.throws(() => Client.make({ baseUrl: "http://a/", apiKey: "k", ...wrong }), TypeError)
      }
    })
  )

  it.live("is stopped while an answer comes, and where that came anyway", () =>
    Effect.gen(function* () {
      const halves = yield* LocalServer.http((_, response) => response.writeHead(200).write('{"data":'))
      const { signal, ...given } = stoppedAtAnswer()
      const client = Client.make({ baseUrl: halves, apiKey: "hw_none", timeoutMillis: 3_600_000, ...given })
      assert.strictEqual(yield* rejected(() => client.domains.list({}, { signal })), "enough")
      // A `fetch` that does not look at the signal.
      const deaf = Client.make({
        ...{ baseUrl: halves, apiKey: "hw_none" },
        fetch: async () => refusal(429, "request_limit_reached", "60")
      })
      assert.strictEqual(yield* rejected(() => deaf.credits.balance({}, { signal })), "enough")
    })
  )

  it.effect("lets an attempt take as long as it waits for callbacks", () =>
    Effect.gen(function* () {
      const fetch = ({ search }: URL, { signal }: RequestInit) =>
        new Promise<Response>((resolve, reject) => {
          signal!.addEventListener("abort", () => reject(signal!.reason))
          if (search !== "") setTimeout(() => resolve(Response.json({ data: { items: [] } })), 20)
        })
      const client = Client.make({
        baseUrl: "http://127.0.0.1:9",
        apiKey: "hw_none",
        fetch,
        timeoutMillis: 1,
        attempts: 1
      })
      yield* Effect.promise(() => client.feed.read({ query: { wait: 60 } }))
      assert.instanceOf(yield* rejected(() => client.feed.read()), Client.ConnectionFailed)
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
