import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../test/Stores.ts"
import { operations } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

/** Whether a key is refused an operation; what else is wrong with the request is no matter. */
const isRefused = Effect.fnUntraced(function* (key: string, { method, path }: (typeof operations)[number]) {
  const { url } = yield* TestServer
  const answer = yield* send(url, { method, path: path.replace(/\{\w+\}/g, "x"), key })
  return answer.status === 403 && answer.body.error.code === "endpoint_not_allowed_for_api_key"
})

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Keys on ${store.name}`, (it) => {
    it.effect("open the operations of their list alone, whatever else has the same name", () =>
      Effect.gen(function* () {
        const { few } = yield* TestServer
        for (const operation of operations) {
          const { operationId } = operation
          const allowed = operationId.startsWith("callbacks.") || operationId === "subscriptions.list"
          assert.strictEqual(yield* isRefused(few, operation), !allowed, operationId)
        }
      })
    )

    it.effect("that only read are refused whatever is not asked by GET", () =>
      Effect.gen(function* () {
        const { reading } = yield* TestServer
        for (const operation of operations) {
          assert.strictEqual(yield* isRefused(reading, operation), operation.method !== "GET", operation.operationId)
        }
      })
    )

    it.effect("that only read are shown no secret, with which they could sign", () =>
      Effect.gen(function* () {
        const { alice, reading, url } = yield* TestServer
        const events = "/blockchain-events/ethereum/mainnet"
        const item = { callbackUrl: "https://a.example/", callbackSecretKey: "shown to writers", allowDuplicates: true }
        const path = `${events}/block-mined`
        const { body } = yield* send(url, { method: "POST", path, key: alice, body: { data: { item } } })
        for (const path of [`${events}/${body.data.item.referenceId}`, `${events}?limit=50`]) {
          assert.include((yield* send(url, { path, key: alice })).text, item.callbackSecretKey)
          const shown = yield* send(url, { path, key: reading })
          assert.strictEqual(shown.status, 200)
          assert.notInclude(shown.text, item.callbackSecretKey)
        }
      })
    )
  })
}
