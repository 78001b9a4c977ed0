import { assert, layer } from "@effect/vitest"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const maxima = {
  ...defaultMaxima,
  subscriptions: 3,
  duplicates: 2,
  domains: 1,
  verificationsAnHour: 1,
  bulkRequests: 1,
  callbackCopies: 1
}
const limited = takenStores(import.meta.url).map((store) => ({
  ...store,
  layer: Layer.merge(store.layer, Layer.succeed(Limits, maxima))
}))

for (const store of limited) {
  layer(testServer(store), { excludeTestServices: true })(`Limits over HTTP on ${store.name}`, (it) => {
    const call = Effect.fnUntraced(function* (method: string, path: string, item?: unknown) {
      const { bob, url } = yield* TestServer
      return yield* send(url, { method, path, key: bob, ...(item === undefined ? {} : { body: { data: { item } } }) })
    })

    it.effect("shows an account its limits, and says which one it has reached", () =>
      Effect.gen(function* () {
        const path = "/blockchain-events/ethereum/mainnet/address-coins-transactions-confirmed"
        const subscribe = (address: string, i: number) =>
          call("POST", path, { address, callbackUrl: `https://example.com/${i}` })
        const [a, b] = ["0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77"]
        const made = [yield* subscribe(a!, 1), yield* subscribe(a!, 2)]
        assert.deepStrictEqual(
          made.map(({ status }) => status),
          [201, 201]
        )
        const operation = operationNamed("subscriptions.address-coins-transactions-confirmed")
        const duplicates = yield* subscribe(a!, 3)
        assert.strictEqual(duplicates.status, 403)
        assert.strictEqual(duplicates.body.error.code, "blockchain_events_callbacks_limit_reached")
        assert.include(duplicates.body.error.message, "2 subscriptions to one event of one address")
        assert.isUndefined(wrongWith(operation, 403, duplicates.body))
        assert.strictEqual((yield* subscribe(b!, 4)).status, 201)
        const subscriptions = yield* subscribe(b!, 5)
        assert.strictEqual(subscriptions.status, 403)
        assert.include(subscriptions.body.error.message, "An account may have 3 subscriptions")

        assert.strictEqual((yield* call("POST", "/domains", { domain: "example.com" })).status, 201)
        const domains = yield* call("POST", "/domains", { domain: "example.org" })
        assert.strictEqual(domains.status, 409)
        assert.include(domains.body.error.message, "1 domains")
        assert.isUndefined(wrongWith(operationNamed("domains.add"), 409, domains.body))

        yield* call("POST", "/domains/example.com/verify")
        const verification = yield* call("POST", "/domains/example.com/verify")
        assert.strictEqual(verification.status, 429)
        assert.isAtLeast(Number(verification.headers.get("retry-after")), 1)
        assert.isUndefined(wrongWith(operationNamed("domains.verify"), 429, verification.body))

        const copy = (index: number) =>
          call("POST", `/blockchain-events/ethereum/mainnet/${made[index]!.body.data.item.referenceId}/recover`, {
            callbackUrl: "https://example.org/"
          })
        assert.strictEqual((yield* copy(0)).status, 201)
        assert.strictEqual((yield* copy(0)).status, 201)
        const copies = yield* copy(1)
        assert.strictEqual(copies.status, 403)
        assert.isUndefined(wrongWith(operationNamed("callbacks.recover"), 403, copies.body))

        const bulk = (idempotencyKey: string) =>
          call("POST", "/blockchain-events/ethereum/mainnet/bulk", { idempotencyKey, items: [{}] })
        assert.strictEqual((yield* bulk("a")).status, 201)
        const second = yield* bulk("b")
        assert.strictEqual(second.status, 403)
        assert.isUndefined(wrongWith(operationNamed("bulk.create"), 403, second.body))
        assert.strictEqual((yield* bulk("a")).status, 201)

        const { body, status } = yield* call("GET", "/limits")
        assert.strictEqual(status, 200)
        assert.isUndefined(wrongWith(operationNamed("limits.get"), 200, body))
        assert.deepStrictEqual(body.data.item, {
          subscriptions: { maximum: 3, used: 3 },
          duplicates: { maximum: 2 },
          waitingCallbacks: { maximum: 100_000, used: 0 },
          heldCallbacks: { maximum: 10_000 },
          domains: { maximum: 1, used: 1 },
          verificationsAnHour: { maximum: 1, used: 1 },
          wallets: { maximum: 10_000, used: 0 },
          addresses: { maximum: 100_000, used: 0 },
          listedAddresses: { maximum: 1_000_000, used: 0 },
          bulkRequests: { maximum: 1, used: 1 },
          callbackCopies: { maximum: 1, used: 1 },
          nodeCalls: { maximum: 10_000 },
          streams: { maximum: 20, used: 0 }
        })
      })
    )
  })
}
