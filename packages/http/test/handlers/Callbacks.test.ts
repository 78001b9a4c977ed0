import { assert, describe, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const events = "/blockchain-events/ethereum/mainnet"

for (const store of takenStores(import.meta.url)) {
  describe(`Callbacks over HTTP on ${store.name}`, () => {
    layer(testServer(store), { excludeTestServices: true })((it) => {
      const call = Effect.fnUntraced(function* (operationId: string, path: string, item?: Record<string, unknown>) {
        const { alice, url } = yield* TestServer
        const { method } = operationNamed(operationId)
        const body = method === "POST" ? { data: { item: item ?? {} } } : undefined
        const answer = yield* send(url, { method, path, key: alice, body })
        assert.isUndefined(wrongWith(operationNamed(operationId), answer.status, answer.body))
        return answer
      })
      const subscribe = Effect.fnUntraced(function* () {
        const item = { callbackUrl: `https://example.com/${crypto.randomUUID()}`, callbackSecretKey: "the first one" }
        const { body } = yield* call("subscriptions.block-mined", `${events}/block-mined`, item)
        return body.data.item.referenceId as string
      })

      it.effect("numbers what a receiver pulls, page by page, and waits for what is to come", () =>
        Effect.gen(function* () {
          const reference = yield* subscribe()
          const feed = (query: string) =>
            Effect.map(
              call("callbacks.list", `${events}/${reference}/callbacks?${query}`),
              ({ body }) => body.data as { items: ReadonlyArray<{ sequence: number }>; hasMore: boolean }
            )
          assert.deepStrictEqual((yield* feed("")).items, [])
          for (let i = 0; i < 3; i++) yield* call("callbacks.test", `${events}/${reference}/test`)
          const first = yield* feed("limit=2")
          assert.deepStrictEqual(
            first.items.map(({ sequence }) => sequence),
            [1, 2]
          )
          assert.isTrue(first.hasMore)
          const second = yield* feed("limit=2&startingAfter=2")
          assert.deepStrictEqual(
            second.items.map(({ sequence }) => sequence),
            [3]
          )
          assert.isFalse(second.hasMore)
          const [waited] = yield* Effect.all(
            [
              feed("startingAfter=3&wait=20"),
              Effect.delay(call("callbacks.test", `${events}/${reference}/test`), "300 millis")
            ],
            { concurrency: 2 }
          )
          assert.deepStrictEqual(
            waited.items.map(({ sequence }) => sequence),
            [4]
          )
        })
      )

      it.effect("reads on from a place that knows its feed and its store, and refuses others", () =>
        Effect.gen(function* () {
          const [one, two] = [yield* subscribe(), yield* subscribe()]
          for (const reference of [one, one, two, two]) {
            yield* call("callbacks.test", `${events}/${reference}/test`)
          }
          const read = (reference: string, startingAfter: string) =>
            call("callbacks.list", `${events}/${reference}/callbacks?startingAfter=${startingAfter}`)
          const { items, nextStartingAfter } = (yield* read(one, "0")).body.data
          const first = items[0].position
          assert.strictEqual(nextStartingAfter, items[1].position)
          const rest = (yield* read(one, first)).body.data
          assert.deepStrictEqual([rest.startingAfter, rest.items.length], [first, 1])
          assert.lengthOf((yield* read(one, nextStartingAfter)).body.data.items, 0)
          const foreign = yield* read(two, first)
          assert.deepStrictEqual([foreign.status, foreign.body.error.code], [400, "invalid_pagination"])
          for (const malformed of ["x", "1-", "-1", "1-5f0d3a9b71c2", `${first}0`]) {
            assert.strictEqual((yield* read(one, malformed)).status, 400, malformed)
          }
          yield* read(two, "0")
          const beyond = yield* read(two, "3")
          assert.deepStrictEqual([beyond.status, beyond.body.error.code], [409, "invalid_data"])
          assert.include(beyond.body.error.message, "startingAfter=0")
          assert.strictEqual(beyond.body.error.details[0].attribute, "startingAfter")
          yield* StoreEpoch.renew
          const former = yield* read(one, first)
          assert.strictEqual(former.status, 409)
          assert.include(former.body.error.message, "restored from a backup")
          assert.lengthOf((yield* read(one, "1")).body.data.items, 1, "a number alone")
        })
      )

      it.effect("marks a test callback by its event, and sends a numbered one again", () =>
        Effect.gen(function* () {
          const reference = yield* subscribe()
          const made = yield* call("callbacks.test", `${events}/${reference}/test`)
          assert.strictEqual(made.status, 201)
          const { body, event, idempotencyKey } = made.body.data.item
          assert.strictEqual(event, "BLOCK_MINED_TEST")
          assert.strictEqual(JSON.parse(body).data.event, event)
          yield* call("callbacks.list", `${events}/${reference}/callbacks`)
          const again = yield* call(
            "callbacks.redeliver",
            `${events}/${reference}/callbacks/${idempotencyKey}/redeliver`
          )
          assert.strictEqual(again.status, 201)
          assert.strictEqual(again.body.data.item.sequence, 1)
          const status = yield* call("callbacks.status", `${events}/${reference}/status`)
          assert.strictEqual(status.body.data.item.lastSequence, 1)
          assert.strictEqual(status.body.data.item.waiting, 1)
          assert.deepInclude(status.body.data.item.delivery, { state: "healthy", attempts: 0 })
          const recovered = yield* call("receivers.recover", "/receivers/recover", { host: "nobody.example" })
          assert.deepStrictEqual([recovered.status, recovered.body.data.item.subscriptions], [201, 0])
          const receivers = yield* call("receivers.list", "/receivers")
          assert.deepInclude(receivers.body.data.items[0], { host: "example.com", state: "healthy", retrying: 0 })
        })
      )

      it.effect("sends all again on request, and the status says how far that is", () =>
        Effect.gen(function* () {
          const reference = yield* subscribe()
          yield* call("callbacks.test", `${events}/${reference}/test`)
          yield* call("callbacks.list", `${events}/${reference}/callbacks`)
          const begun = yield* call("callbacks.recover", `${events}/${reference}/recover`, { sinceTimestamp: 0 })
          const recovery = { afterSequence: 0, lastSequence: 1, callbacks: 0 }
          assert.deepStrictEqual([begun.status, begun.body.data.item], [201, recovery])
          const status = yield* call("callbacks.status", `${events}/${reference}/status`)
          assert.deepStrictEqual(status.body.data.item.recovery, recovery)
          const elsewhere = (callbackUrl: string) =>
            call("callbacks.recover", `${events}/${reference}/recover`, { callbackUrl })
          const copied = yield* elsewhere("https://other.example/")
          const { nextAttemptTimestamp } = copied.body.data.item
          assert.isAbove(nextAttemptTimestamp, 1_700_000_000_000)
          const copy = { ...recovery, callbackUrl: "https://other.example/", nextAttemptTimestamp }
          assert.deepStrictEqual([copied.status, copied.body.data.item], [201, copy])
          const beside = yield* call("callbacks.status", `${events}/${reference}/status`)
          assert.deepStrictEqual([beside.body.data.item.recovery, beside.body.data.item.copy], [recovery, copy])
          assert.deepStrictEqual((yield* elsewhere("http://other.example/")).body.error.details, [
            { attribute: "callbackUrl", message: "must begin with https://" }
          ])
          const refused = yield* call("callbacks.recover", `${events}/${reference}/recover`, { afterSequence: -1 })
          assert.strictEqual(refused.status, 400)
          assert.include(JSON.stringify(refused.body), "must be a whole number from 0 on")
        })
      )

      it.effect("changes the secret, and keeps the old one for the overlap", () =>
        Effect.gen(function* () {
          const reference = yield* subscribe()
          const changed = yield* call("callbacks.rotateSecret", `${events}/${reference}/secret`, {
            callbackSecretKey: "the second one",
            overlapSeconds: 60
          })
          assert.strictEqual(changed.body.data.item.callbackSecretKey, "the second one")
          const { read, secrets } = yield* Database
          const [row] = yield* read((db) =>
            db.selectFrom("subscription").selectAll().where("reference_id", "=", reference)
          )
          assert.strictEqual(yield* secrets.open(row!.previous_secret!, reference), "the first one")
          assert.isAbove(row!.previous_secret_until!, Date.now() + 50_000)
        })
      )

      it.effect("lists the movements in doubt of the subscription's address since the subscription, page by page", () =>
        Effect.gen(function* () {
          const { alice, url } = yield* TestServer
          const { insertMany, query } = yield* Database
          const bitcoin = "/blockchain-events/bitcoin/mainnet"
          const text = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
          const made = yield* send(url, {
            ...{ method: "POST", path: `${bitcoin}/address-coins-transactions-confirmed`, key: alice },
            body: { data: { item: { address: text, callbackUrl: "https://example.com/doubt" } } }
          })
          assert.strictEqual(made.status, 201)
          const reference = made.body.data.item.referenceId as string
          const list = (page: string) =>
            Effect.map(
              call("callbacks.unresolved", `${bitcoin}/${reference}/unresolved?${page}`),
              ({ body }) => body.data
            )
          assert.deepStrictEqual(yield* list(""), { limit: 50, offset: 0, total: 0, items: [] })

          const [row] = yield* query((db) =>
            db.selectFrom("subscription").selectAll().where("reference_id", "=", reference)
          )
          const { address, chain } = row!
          yield* query((db) =>
            db.updateTable("subscription").set({ from_height: 100 }).where("reference_id", "=", reference)
          )
          const of = (height: number, number: number, owner = address!) => ({
            ...{ chain: chain!, height, transaction_id: new Uint8Array(32).fill(number), address: owner, reason: "why" }
          })
          yield* insertMany("unresolved_event", [
            ...[of(100, 1), of(102, 2), of(101, 3), of(101, 4, Uint8Array.of(0x6a))]
          ])
          const page = yield* list("limit=1&offset=1")
          assert.strictEqual(page.total, 2)
          const { remedy, ...item } = page.items[0]
          assert.include(remedy, "txindex=1")
          assert.deepStrictEqual(item, {
            ...{ address: text, minedInBlockHeight: 102, transactionId: "02".repeat(32), reason: "why" }
          })
          const status = yield* call("callbacks.status", `${bitcoin}/${reference}/status`)
          assert.strictEqual(status.body.data.item.unresolved, 2)
        })
      )

      it.effect("shows an account nothing of another's", () =>
        Effect.gen(function* () {
          const { bob, url } = yield* TestServer
          const reference = yield* subscribe()
          for (const [method, path] of [
            ["GET", "callbacks"],
            ["GET", "status"],
            ["GET", "unresolved"],
            ["POST", "test"],
            ["POST", "secret"],
            ["POST", "recover"],
            ["POST", `callbacks/${"ab".repeat(16)}/redeliver`]
          ] as const) {
            const body = method === "POST" ? { data: { item: { callbackSecretKey: "x" } } } : undefined
            const answer = yield* send(url, { method, path: `${events}/${reference}/${path}`, key: bob, body })
            assert.strictEqual(answer.status, 404, path)
          }
        })
      )
    })
  })
}
