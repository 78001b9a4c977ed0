import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { stores } from "../../../../test/Stores.ts"
import { operations } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

/** Whether a key is refused an operation; what else is wrong with the request is no matter. */
const isRefused = Effect.fnUntraced(function* (key: string, { method, path }: (typeof operations)[number]) {
  const { url } = yield* TestServer
  const answer = yield* send(url, { method, path: path.replace(/\{\w+\}/g, "x"), key })
  return answer.status === 403 && answer.body.error.code === "endpoint_not_allowed_for_api_key"
})

for (const store of stores) {
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
  })
}
