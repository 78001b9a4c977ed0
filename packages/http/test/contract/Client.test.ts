import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { assert, layer } from "@effect/vitest"
import * as Client from "@headwater/http/contract/Client"
import * as Effect from "effect/Effect"
import { build, type Rollup } from "vite"
import { stores } from "../../../../test/Stores.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const [store] = stores
const place = { blockchain: "ethereum", network: "mainnet" }
const address = "0x52908400098527886E0F7030069857D2E4169EE7"

layer(testServer(store!), { excludeTestServices: true })("Client", (it) => {
  it.effect("gives plain data, and the interface's errors by their names", () =>
    Effect.gen(function* () {
      const { alice, insides, url } = yield* TestServer
      const client = yield* Client.makeFetch({ baseUrl: url, apiKey: alice })
      const item = { address, callbackUrl: "https://example.com/", receiveCallbackOn: 3 }
      const create = client.subscriptions["address-coins-transactions-confirmed"]({
        params: place,
        query: {},
        payload: { data: { item } }
      })
      const made = yield* create
      assert.strictEqual(made.item.receiveCallbackOn, 3)
      const again = yield* Effect.flip(create)
      assert.strictEqual(again._tag, "already_exists")

      const list = yield* client.subscriptions.list({ params: place, query: {} })
      assert.deepStrictEqual(
        list.items.map(({ referenceId }) => referenceId),
        [made.item.referenceId]
      )
      const wrong = yield* client.subscriptions
        .list({ params: { ...place, network: "nonsense" }, query: {} })
        .pipe(Effect.catchTag("invalid_network", ({ details }) => Effect.succeed(details)))
      assert.strictEqual(Array.isArray(wrong) && wrong[0].attribute, "network")

      const { referenceId } = made.item
      const deleted = yield* client.subscriptions.delete({ params: { ...place, referenceId }, query: {} })
      assert.strictEqual(deleted.item.referenceId, referenceId)
      const gone = yield* Effect.flip(client.subscriptions.get({ params: { ...place, referenceId }, query: {} }))
      assert.strictEqual(gone._tag, "resource_not_found")

      const logs = yield* client.transactions.logs({
        params: { ...place, transactionHash: "ab".repeat(32) },
        query: { limit: 7, offset: 3 }
      })
      assert.deepStrictEqual([logs.limit, logs.offset, logs.items.length], [7, 3, 7])

      insides.broken = true
      const broken = yield* Effect.flip(client.credits.balance({ query: {} }))
      insides.broken = false
      assert.strictEqual(broken._tag, "unexpected_server_error")
    })
  )

  it.effect("pages by cursor from the first item to the last, in both orders", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const client = yield* Client.makeFetch({ baseUrl: url, apiKey: alice })
      for (const sortingOrder of ["ASCENDING", "DESCENDING"] as const) {
        const seen: Array<string> = []
        let startingAfter: string | undefined
        do {
          const page = yield* client.addresses.internalTransactions({
            // Any form of the address goes on behind a page of another form.
            params: { ...place, address: seen.length % 2 === 0 ? address : address.toLowerCase() },
            query: { limit: 13, sortingOrder, ...(startingAfter === undefined ? {} : { startingAfter }) }
          })
          assert.strictEqual(page.sortingOrder, sortingOrder)
          assert.strictEqual(page.startingAfter, startingAfter)
          assert.strictEqual(page.hasMore, page.nextStartingAfter !== undefined)
          seen.push(...page.items.map(({ operationId }) => operationId))
          startingAfter = page.nextStartingAfter
        } while (startingAfter !== undefined)
        const all = Array.from({ length: 120 }, (_, i) => `call_${i}`)
        assert.deepStrictEqual(seen, sortingOrder === "ASCENDING" ? all : all.reverse())
      }
    })
  )

  it.effect("runs where there is nothing but what a browser has", () =>
    Effect.gen(function* () {
      const { alice, url } = yield* TestServer
      const source = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
      const bundle = yield* Effect.promise(() =>
        build({
          configFile: false,
          logLevel: "error",
          build: {
            write: false,
            lib: { entry: source("test/browser.ts"), formats: ["iife"], name: "client" },
            rollupOptions: {
              onwarn: (warning) => {
                throw new Error(warning.message)
              }
            }
          }
        })
      )
      const { output } = (bundle as Array<Rollup.RollupOutput>)[0]!
      const { code, imports, moduleIds } = output[0]
      assert.deepStrictEqual(imports, [])
      assert.deepStrictEqual(
        moduleIds.filter((id) => /browser-external|sqlite|kysely|packages\/indexer|platform-node/.test(id)),
        []
      )
      const browser = {
        ...{ AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, URLSearchParams },
        ...{
          console,
          crypto,
          fetch,
          performance,
          queueMicrotask,
          clearTimeout,
          setTimeout,
          setInterval,
          clearInterval
        },
        // What `fetch` hands out is of this realm.
        ...{ ArrayBuffer, Uint8Array, Error },
        ...{ Blob, FormData, ReadableStream, WritableStream, TransformStream, structuredClone, MessageChannel }
      }
      const client = runInNewContext(`${code}; client`, browser)
      const available = yield* Effect.promise(() => client.available(url, alice) as Promise<number>)
      const { body } = yield* send(url, { path: "/credits/balance", key: alice })
      assert.strictEqual(available, body.data.item.available)
    })
  )
})
