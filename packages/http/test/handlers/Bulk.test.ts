import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as BulkRequests from "@headwater/indexer/store/subscriptions/BulkRequests"
import * as Effect from "effect/Effect"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const path = "/blockchain-events/ethereum/mainnet/bulk"
const addressOf = (i: number) => `0x${i.toString(16).padStart(40, "0")}`
const coins = "ADDRESS_COINS_TRANSACTION_CONFIRMED"

const call = Effect.fnUntraced(function* (
  method: string,
  more: string,
  item?: unknown,
  who: "alice" | "bob" | "poor" = "alice"
) {
  const server = yield* TestServer
  const body = item === undefined ? {} : { body: { data: { item } } }
  return yield* send(server.url, { method, path: `${path}${more}`, key: server[who], ...body })
})
const create = (
  items: ReadonlyArray<unknown>,
  idempotencyKey: string = crypto.randomUUID(),
  who?: "alice" | "bob" | "poor"
) => call("POST", "", { idempotencyKey, items }, who)

/** So many items of which no other test has one. */
const fresh = (count: number, more: object = {}) => {
  const callbackUrl = `https://example.com/${crypto.randomUUID()}`
  return Array.from({ length: count }, (_, i) => ({ eventType: coins, address: addressOf(i), callbackUrl, ...more }))
}

interface Result {
  readonly item?: { readonly referenceId: string }
  readonly error?: { readonly code: string; readonly details?: unknown }
}
const codes = (items: ReadonlyArray<Result>) => items.map(({ error }) => error?.code ?? "made")
const references = (items: ReadonlyArray<Result>) => items.map(({ item }) => item?.referenceId)

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Bulk over HTTP on ${store.name}`, (it) => {
    it.effect("gives each item the result that its own operation would give it", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const [one, two] = fresh(2, { callbackSecretKey: "s", receiveCallbackOn: 7, filter: { minimumAmount: "0.5" } })
        const block = { eventType: "BLOCK_MINED", callbackUrl: one!.callbackUrl }
        const items = [
          ...[one, two, one, { ...one, allowDuplicates: true }, block, { ...one, address: "0x1" }],
          ...[
            { ...one, callbackUrl: "http://example.com/" },
            { callbackUrl: one!.callbackUrl },
            null,
            { eventType: coins }
          ],
          ...[
            { ...one, eventType: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED" },
            { ...one, receiveCallbackOn: 0 },
            { ...one, filter: { minimumAmount: "2" } }
          ]
        ]
        const { body, status } = yield* create(items)
        assert.strictEqual(status, 201)
        assert.isUndefined(wrongWith(operationNamed("bulk.create"), status, body))
        const answers = body.data.items
        assert.deepStrictEqual(codes(answers), [
          ...["made", "made", "already_exists", "made", "made", "invalid_data", "invalid_data", "invalid_data"],
          ...["invalid_data", "invalid_data", "unimplemented", "invalid_data", "made"]
        ])
        const { createdTimestamp, referenceId } = answers[1].item
        assert.deepStrictEqual(answers[1].item, {
          ...{ address: "0x0000000000000000000000000000000000000001", callbackUrl: two!.callbackUrl, createdTimestamp },
          ...{ eventType: coins, isActive: true, receiveCallbackOn: 7, referenceId, filter: { minimumAmount: "0.5" } }
        })
        // What the single operations say of the same items.
        for (const [i, item] of items.entries()) {
          const { error } = answers[i]
          if (item === null || error === undefined || error.code === "already_exists" || !("eventType" in item!))
            continue
          const name = item.eventType!.toLowerCase().replaceAll("_", "-").replace("transaction-", "transactions-")
          const single = yield* send(url, {
            method: "POST",
            path: `/blockchain-events/ethereum/mainnet/${name}`,
            key: alice,
            body: { data: { item } }
          })
          assert.deepStrictEqual(single.body.error, error)
        }
        const shown = yield* send(url, {
          method: "GET",
          path: `/blockchain-events/ethereum/mainnet/${referenceId}`,
          key: alice
        })
        assert.strictEqual(shown.body.data.item.callbackSecretKey, "s")
      })
    )

    it.effect("answers a repeated request the same, and refuses its key for another one", () =>
      Effect.gen(function* () {
        const items = [...fresh(3), { eventType: "nonsense" }]
        const key = crypto.randomUUID()
        const first = yield* create(items, key)
        const again = yield* create(items, key)
        assert.deepStrictEqual(again.body.data, first.body.data)
        const other = yield* create(items.slice(1), key)
        assert.deepStrictEqual([other.status, other.body.error.details[0].attribute], [409, "idempotencyKey"])
        const half = yield* create(items, "import \ud83d")
        assert.strictEqual(half.body.error.message, "idempotencyKey: must have no lone surrogates")
        assert.strictEqual((yield* create(items, "import \u{1f600}")).status, 201)
        const elsewhere = yield* create(items, key, "bob")
        assert.strictEqual(elsewhere.status, 201)
        assert.notDeepEqual(references(elsewhere.body.data.items), references(first.body.data.items))
        const secret = items.map((item) => ({ ...item, callbackSecretKey: "s" }))
        assert.strictEqual((yield* create(secret, key)).status, 409)
      })
    )

    it.effect("keeps little of items that no schema reads, and forgets all in steps after a week", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const key = crypto.randomUUID()
        const { body } = yield* create(
          Array.from({ length: 5_000 }, () => ({})),
          key
        )
        assert.deepStrictEqual(new Set(codes(body.data.items)), new Set(["invalid_data"]))
        const results = Effect.gen(function* () {
          const [request] = yield* query((db) =>
            db.selectFrom("bulk_request").select("id").where("request_key", "=", key)
          )
          return request === undefined
            ? undefined
            : yield* query((db) => db.selectFrom("bulk_result").select("results").where("bulk", "=", request.id))
        })
        assert.isBelow((yield* results)!.map(({ results }) => results).join("").length, 30_000)
        yield* query((db) => db.updateTable("bulk_request").set({ created: 0 }).where("request_key", "=", key))
        yield* BulkRequests.prune
        assert.isUndefined(yield* results)
      })
    )

    it.effect("goes on where it broke off", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const items = fresh(450)
        const key = crypto.randomUUID()
        const whole = references((yield* create(items, key)).body.data.items)
        // As a kill behind the first step leaves it.
        const [request] = yield* query((db) =>
          db.updateTable("bulk_request").set({ done: 200 }).where("request_key", "=", key).returning("id")
        )
        yield* query((db) => db.deleteFrom("bulk_result").where("bulk", "=", request!.id).where("position", ">=", 200))
        const lost = whole.slice(200) as Array<string>
        yield* call("POST", "/delete", { referenceIds: lost })
        const [one, two] = yield* Effect.all([create(items, key), create(items, key)], { concurrency: 2 })
        assert.deepStrictEqual(two.body.data, one.body.data)
        const made = references(one.body.data.items)
        assert.deepStrictEqual(made.slice(0, 200), whole.slice(0, 200))
        assert.isFalse(made.slice(200).some((reference) => reference === undefined || lost.includes(reference)))
        const rows = yield* query((db) =>
          db.selectFrom("subscription").select("id").where("callback_url", "=", items[0]!.callbackUrl)
        )
        assert.strictEqual(rows.length, items.length)
      })
    )

    it.effect("lists by a cursor what was made, and deletes it, each with its own result", () =>
      Effect.gen(function* () {
        const items = fresh(450)
        const made = references((yield* create(items, undefined, "bob")).body.data.items) as Array<string>
        const listed: Array<string> = []
        let next = ""
        do {
          const { body, status } = yield* call("GET", `?limit=180${next}`, undefined, "bob")
          assert.isUndefined(wrongWith(operationNamed("bulk.list"), status, body))
          const { data } = body
          listed.push(
            ...data.items
              .filter(({ callbackUrl }: { callbackUrl: string }) => callbackUrl === items[0]!.callbackUrl)
              .map(({ referenceId }: { referenceId: string }) => referenceId)
          )
          next = data.hasMore ? `&startingAfter=${data.nextStartingAfter}` : ""
        } while (next !== "")
        assert.deepStrictEqual(listed, made)
        const others = yield* call("POST", "/delete", { referenceIds: made })
        assert.deepStrictEqual(new Set(codes(others.body.data.items)), new Set(["resource_not_found"]))
        const referenceIds = [...made, made[0], "nonsense"]
        const { body, status } = yield* call("POST", "/delete", { referenceIds }, "bob")
        assert.isUndefined(wrongWith(operationNamed("bulk.delete"), status, body))
        assert.deepStrictEqual(references(body.data.items.slice(0, -2)), made)
        assert.deepStrictEqual(codes(body.data.items.slice(-2)), ["resource_not_found", "resource_not_found"])
        const { query } = yield* Database
        const left = yield* query((db) =>
          db.selectFrom("subscription").select("id").where("callback_url", "=", items[0]!.callbackUrl)
        )
        assert.strictEqual(left.length, 0)
      })
    )

    it.effect("refuses more than 10,000 items, and a body above 4 MiB", () =>
      Effect.gen(function* () {
        const many = yield* create(Array.from({ length: 10_001 }, () => 1))
        assert.deepStrictEqual(many.body.error.details, [{ attribute: "items", message: "must have 1 to 10000 items" }])
        assert.strictEqual((yield* create(["x".repeat(4_194_304)])).status, 413)
      })
    )

    it.effect("looks at no more than 100 hosts", () =>
      Effect.gen(function* () {
        const items = fresh(102).map((item, i) => ({ ...item, callbackUrl: `https://h${i % 101}.example.com/` }))
        const { body } = yield* create(items)
        const found = codes(body.data.items)
        assert.deepStrictEqual([found[99], found[100], found[101]], ["made", "invalid_data", "made"])
      })
    )
  })

  layer(testServer(store, { credits: 100 }), { excludeTestServices: true })(
    `Bulk with few credits on ${store.name}`,
    (it) => {
      it.effect("makes and charges what the account can pay for, as single calls cost", () =>
        Effect.gen(function* () {
          const items = [...fresh(2), { eventType: "nonsense" }, ...fresh(3)]
          const key = crypto.randomUUID()
          const { body, headers } = yield* create(items, key)
          const expected = ["made", "made", "invalid_data", "made", "insufficient_credits", "insufficient_credits"]
          assert.deepStrictEqual(codes(body.data.items), expected)
          assert.strictEqual(headers.get("x-credits-consumed"), "90")
          assert.strictEqual(headers.get("x-credits-available"), "10")
          assert.deepStrictEqual((yield* create(items, key)).body.data, body.data)
          const next = yield* create(fresh(1))
          assert.strictEqual(next.status, 402)
          assert.strictEqual(next.headers.get("x-credits-consumed"), "0")
          assert.strictEqual(next.headers.get("x-credits-available"), "10")
        })
      )
    }
  )

  layer(testServer(store, { credits: 100 }), { excludeTestServices: true })(
    `Bulk whose transaction fails on ${store.name}`,
    (it) => {
      it.effect("tells of no credits for what was paid and undone", () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          yield* query((db) => db.schema.alterTable("bulk_result").renameTo("bulk_result_gone"))
          const { headers, status } = yield* create(fresh(1))
          assert.strictEqual(status, 500)
          assert.strictEqual(headers.get("x-credits-consumed"), "0")
        })
      )
    }
  )

  layer(testServer(store, { rate: { creditsPerSecond: 1, burst: 100_000 } }), { excludeTestServices: true })(
    `Bulk at a rate on ${store.name}`,
    (it) => {
      it.effect("counts each item, made, failed or deleted, as its own request counts", () =>
        Effect.gen(function* () {
          const rest = Effect.map(call("GET", "?limit=1"), ({ headers }) =>
            Number(headers.get("x-ratelimit-remaining"))
          )
          const spent = <A, E, R>(request: Effect.Effect<A, E, R>) =>
            Effect.gen(function* () {
              const before = yield* rest
              yield* request
              return before - (yield* rest)
            })
          const one = yield* spent(create(fresh(1)))
          const [many, failed, removed] = [
            yield* spent(create(fresh(300))),
            yield* spent(create(Array.from({ length: 300 }, () => ({})))),
            yield* spent(call("POST", "/delete", { referenceIds: Array.from({ length: 300 }, () => "nonsense") }))
          ]
          // The bucket fills by one a second.
          assert.isAbove(many, one * 100)
          assert.isAbove(failed, one * 100)
          assert.isAbove(removed, 300 * 20)
        })
      )
    }
  )

  layer(
    testServer(store).pipe(Layer.provide(Layer.succeed(Limits, { ...defaultMaxima, subscriptions: 4, duplicates: 2 }))),
    { excludeTestServices: true }
  )(`Bulk within limits on ${store.name}`, (it) => {
    it.effect("makes no more subscriptions than the account may have", () =>
      Effect.gen(function* () {
        const [one] = fresh(1, { allowDuplicates: true })
        const { body } = yield* create([one, one, one, ...fresh(4)])
        const limit = "blockchain_events_callbacks_limit_reached"
        assert.deepStrictEqual(codes(body.data.items), ["made", "made", limit, limit, "made", "made", limit])
      })
    )
  })
}
