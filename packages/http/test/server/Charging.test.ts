import { assert, layer } from "@effect/vitest"
import * as Errors from "@headwater/http/contract/Errors"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { stores, takenStores } from "../../../../test/Stores.ts"
import { listLength, send, TestServer, testServer } from "../TestServer.ts"

const place = "/blockchain-events/ethereum/mainnet"

const numbers = (answer: { readonly headers: Headers }) => [
  Number(answer.headers.get("x-credits-consumed")),
  Number(answer.headers.get("x-credits-available"))
]

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store, { credits: 50 * 30 }), { excludeTestServices: true })(`Charging on ${store.name}`, (it) => {
    it.effect("serves exactly 50 of 200 requests at once to who can pay for 50", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const { balance, statement } = yield* Credits
        const { read } = yield* Database
        const statuses = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, i) => i),
          (i) =>
            // Half of them change something, half of them read.
            i % 2 === 0
              ? send(url, { path: place, key: alice, headers: { n: String(i) } })
              : send(url, {
                  method: "POST",
                  path: `${place}/block-mined`,
                  key: alice,
                  body: { data: { item: { callbackUrl: `https://example.com/${i}` } } }
                }),
          { concurrency: "unbounded" }
        )
        const served = statuses.filter(({ status }) => status < 300)
        const refused = statuses.filter(({ status }) => status === 402)
        // A list costs as many results as it has items by then, so fewer may be served; each credit is accounted for.
        const consumed = served.reduce((sum, answer) => sum + numbers(answer)[0]!, 0)
        assert.strictEqual(served.length + refused.length, 200)
        const [account] = yield* read((db) => db.selectFrom("account").select("id").where("name", "=", "alice"))
        const left = yield* balance(account!.id)
        assert.strictEqual(left, 50 * 30 - consumed)
        assert.isBelow(left, 30)
        const entries = yield* statement(account!.id, { limit: 1000, newestFirst: false, after: undefined })
        assert.strictEqual(
          entries.reduce((sum, { amount }) => sum + amount, 0),
          left
        )
        assert.strictEqual(entries.length, served.length + 1)
        // What was not paid for was not done.
        const [{ made }] = (yield* read((db) =>
          db.selectFrom("subscription").select(sql<number>`count(*)`.as("made"))
        )) as [{ made: number }]
        assert.strictEqual(made, served.filter(({ status }) => status === 201).length)
      })
    )
  })

  layer(testServer(store, { credits: 50 * 30 }), { excludeTestServices: true })(`Racing on ${store.name}`, (it) => {
    it.effect("serves exactly 50 of 200 equal requests", () =>
      Effect.gen(function* () {
        const { alice, bob, url } = yield* TestServer
        for (const request of [
          (i: number) => ({ path: `${place}?limit=1&n=${i}`, key: alice }),
          (i: number) => ({
            method: "POST",
            path: `${place}/block-mined`,
            key: bob,
            body: { data: { item: { callbackUrl: `https://example.com/${i}` } } }
          })
        ]) {
          const answers = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, i) => i),
            (i) => send(url, request(i)),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(answers.filter(({ status }) => status < 300).length, 50)
          assert.strictEqual(answers.filter(({ status }) => status === 402).length, 150)
        }
        const balances = yield* Effect.forEach([alice, bob], (key) => send(url, { path: "/credits/balance", key }))
        assert.deepStrictEqual(
          balances.map(({ body }) => body.data.item.available),
          [0, 0]
        )
      })
    )
  })

  layer(testServer(store, { credits: 1_000_000 }), { excludeTestServices: true })(`Prices on ${store.name}`, (it) => {
    it.effect("are taken by operation, chain and results, and shown in the answer", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const hash = "ab".repeat(32)
        const xpub = "x".repeat(111)
        const address = "0x52908400098527886E0F7030069857D2E4169EE7"
        const transaction = { amount: "1", recipient: address, sender: address, fee: { priority: "fast" } }
        const cases: ReadonlyArray<readonly [method: string, path: string, price: number, item?: object]> = [
          ["GET", "/credits/balance", 0],
          ["GET", "/domains", 0],
          ["GET", `${place}`, 30],
          ["POST", `${place}/block-mined`, 30, { callbackUrl: "https://example.com/" }],
          ["GET", `${place}`, 30],
          ["GET", "/market-data/assets/by-id/1", 110],
          ["GET", `/blocks/xrp/mainnet/hash/${hash}/transactions`, 50 * 20],
          ["GET", `/blocks/xrp/mainnet/hash/${hash}/transactions?limit=7`, 7 * 20],
          ["GET", `/blocks/xrp/mainnet/hash/${hash}/transactions?offset=${listLength}`, 20],
          ["GET", "/blocks/utxo/bitcoin-cash/mainnet/latest/details", 24],
          ["GET", `/addresses-latest/evm/polygon/mainnet/${address}/internal-transactions?limit=2`, 2 * 640],
          ["GET", `/addresses-historical/evm/polygon/mainnet/${address}/tokens-transfers?limit=2`, 2 * 100],
          ["GET", `/transactions/evm/tron/mainnet/${hash}/logs?limit=3`, 3 * 45],
          ["GET", `/hd-wallets/evm/tron/mainnet/${xpub}/assets`, 330],
          ["GET", `/hd-wallets/utxo/dash/mainnet/${xpub}/assets`, 572],
          ["GET", `/hd-wallets/xrp/mainnet/${xpub}/assets`, 120],
          ["POST", `/hd-wallets/utxo/litecoin/mainnet/${xpub}/addresses/derive-and-sync`, 100 * 39],
          ["POST", `/hd-wallets/xrp/mainnet/${xpub}/addresses/derive-and-sync`, 100 * 35],
          ["POST", "/prepare-transactions/evm/binance-smart-chain/mainnet/native-coins", 150, transaction],
          // What fails costs nothing.
          ["GET", `${place}?limit=51`, 0],
          ["GET", `${place}/${crypto.randomUUID()}`, 0],
          ["POST", `${place}/block-mined`, 0, { callbackUrl: "https://example.com/" }]
        ]
        let available = 1_000_000
        for (const [method, path, price, item] of cases) {
          const answer = yield* send(url, {
            method,
            path,
            key: alice,
            ...(item === undefined ? {} : { body: { data: { item } } })
          })
          available -= price
          assert.deepStrictEqual(numbers(answer), [price, available], `${method} ${path} ${answer.text}`)
        }
        const unsupported = yield* send(url, {
          method: "POST",
          path: `${place}/block-mined`,
          key: alice,
          body: "x",
          headers: { "content-type": "text/plain" }
        })
        assert.strictEqual(unsupported.status, 415)
        const { body } = yield* send(url, { path: "/credits/balance", key: alice })
        assert.strictEqual(body.data.item.available, available)
      })
    )

    it.effect("are given back where the nodes refuse a broadcast that was paid for", () =>
      Effect.gen(function* () {
        const { bob, insides, url } = yield* TestServer
        const broadcast = send(url, {
          ...{ method: "POST", path: "/broadcast-transactions/polygon/mainnet", key: bob },
          body: { data: { item: { signedTransactionHex: "0x01" } } }
        })
        const [consumed, before] = numbers(yield* broadcast)
        assert.isAbove(consumed!, 0)
        insides.refusal = new Errors.Conflict({ message: "the nodes refuse it" })
        const refused = yield* Effect.ensuring(
          broadcast,
          Effect.sync(() => {
            insides.refusal = undefined
          })
        )
        assert.deepStrictEqual([refused.status, ...numbers(refused)], [409, 0, before])
        const { body } = yield* send(url, { path: "/credits/statement?limit=2", key: bob })
        assert.deepStrictEqual(
          body.data.items.map(({ amount, detail, kind }: Record<string, unknown>) => [amount, detail, kind]),
          [consumed!, -consumed!].map((amount) => [amount, "broadcast", "request"])
        )
      })
    )

    it.effect("stand in a statement that is paged without a gap while it grows", () =>
      Effect.gen(function* () {
        const { bob, url } = yield* TestServer
        for (let i = 0; i < 11; i++) yield* send(url, { path: place, key: bob })
        for (const [order, limit] of [
          ["descending", 3],
          ["ASCENDING", 4]
        ] as const) {
          const seen: Array<string> = []
          let cursor = ""
          for (;;) {
            const { body } = yield* send(url, {
              path: `/credits/statement?limit=${limit}&sortingOrder=${order}${cursor}`,
              key: bob
            })
            seen.push(...body.data.items.map(({ key }: { key: string }) => key))
            assert.strictEqual(body.data.sortingOrder, order.toUpperCase())
            if (!body.data.hasMore) break
            cursor = `&startingAfter=${body.data.nextStartingAfter}`
            if (seen.length < 9) yield* send(url, { path: place, key: bob })
          }
          assert.strictEqual(new Set(seen).size, seen.length)
          // Newest first, what came meanwhile is before the first page; oldest first, it is on the last.
          const { body } = yield* send(url, { path: "/credits/statement?limit=50", key: bob })
          const all = body.data.items.map(({ key }: { key: string }) => key)
          assert.deepStrictEqual(seen, order === "ASCENDING" ? all.reverse() : all.slice(-seen.length))
          assert.isAtLeast(seen.length, 12)
        }
      })
    )
  })
}

const [first] = stores
layer(testServer(first!, { rate: { creditsPerSecond: 30, burst: 300 } }), { excludeTestServices: true })(
  "Rate limit",
  (it) => {
    it.effect("lets a burst through, says when to come again, and lets that through", () =>
      Effect.gen(function* () {
        const { alice, bob, url } = yield* TestServer
        const list = (key: string) => send(url, { path: "/blockchain-events/ethereum/mainnet", key })
        const [time, answers] = yield* Effect.timed(
          Effect.forEach(Array.from({ length: 20 }), () => list(alice), { concurrency: "unbounded" })
        )
        const passed = answers.filter(({ status }) => status === 200).length
        assert.isAtLeast(passed, 10)
        // A second's credits pay for one more.
        assert.isAtMost(passed, 10 + Duration.toSeconds(time))
        const refused = answers.find(({ status }) => status === 429)!
        const wait = Number(refused.headers.get("retry-after"))
        assert.strictEqual(wait, 1)
        // It is a limit of each account.
        assert.strictEqual((yield* list(bob)).status, 200)
        yield* Effect.sleep(`${wait} seconds`)
        assert.strictEqual((yield* list(alice)).status, 200)
      })
    )
  }
)

for (const store of takenStores(import.meta.url)) {
  const rate = { creditsPerSecond: 1, burst: 300 }
  layer(testServer(store, { rate }), { excludeTestServices: true })(`The rate of an account on ${store.name}`, (it) => {
    it.effect("limits what has no price too, and every answer says what is left", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const place = `/blockchain-events/ethereum/mainnet/${crypto.randomUUID()}`
        const free = [
          ["GET", "/domains"],
          ["POST", "/domains/example.com/verify"],
          ["GET", `${place}/callbacks`],
          ["POST", `${place}/test`],
          ["POST", `${place}/callbacks/x/redeliver`]
        ] as const
        for (const [i, [method, path]] of [...free, ...free].entries()) {
          const { headers, status } = yield* send(url, { method, path, key: alice })
          assert.notStrictEqual(status, 429)
          const left = Number(headers.get("x-ratelimit-remaining"))
          assert.closeTo(left, 300 - 30 * (i + 1), 5, path)
          assert.strictEqual(headers.get("x-ratelimit-limit"), "300")
          assert.strictEqual(headers.get("ratelimit-policy"), '"account";q=300;w=300')
          assert.match(headers.get("ratelimit")!, new RegExp(`^"account";r=${left};t=\\d+$`))
        }
        for (const [method, path] of free) {
          const { body, headers, status } = yield* send(url, { method, path, key: alice })
          assert.deepStrictEqual([status, body.error.code], [429, "request_limit_reached"], path)
          assert.isAtLeast(Number(headers.get("retry-after")), 20)
          const left = Number(headers.get("x-ratelimit-remaining"))
          assert.isBelow(left, 30)
          // When all of it is there again, as after any other answer: not when the request may be made again.
          assert.closeTo(Number(headers.get("x-ratelimit-reset")), 300 - left, 1)
          assert.strictEqual(headers.get("ratelimit"), `"account";r=${left};t=${headers.get("x-ratelimit-reset")}`)
        }
      })
    )

    it.effect("bounds what broadcasts ask of nodes that are refused for nothing", () =>
      Effect.gen(function* () {
        const { bob, insides, url } = yield* TestServer
        insides.refusal = new Errors.Conflict({ message: "the nodes refuse it" })
        const broadcast = send(url, {
          ...{ method: "POST", path: "/broadcast-transactions/ethereum/mainnet", key: bob },
          body: { data: { item: { signedTransactionHex: "0x01" } } }
        })
        const statuses = yield* Effect.forEach(Array.from({ length: 6 }), () =>
          Effect.map(broadcast, ({ status }) => status)
        )
        insides.refusal = undefined
        assert.deepStrictEqual(statuses, [409, 409, 409, 409, 409, 429])
      })
    )
  })
}
