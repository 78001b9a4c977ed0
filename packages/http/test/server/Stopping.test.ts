/** What a stop does to those who wait for callbacks: each is answered or let go at once, and nobody is cut off. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { WebSocket } from "undici"
import { stores } from "../../../../test/Stores.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const [store] = stores
const events = "/blockchain-events/ethereum/mainnet"

describe("A server that stops", () => {
  it.live("answers long polls, and lets go who stays connected", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(testServer(store!, { stopTimeoutMillis: 30_000 }), scope)
      const { bob, url } = Context.get(services, TestServer)
      const { body } = yield* send(url, {
        ...{ method: "POST", path: `${events}/block-mined`, key: bob },
        body: { data: { item: { callbackUrl: "https://example.com/" } } }
      })
      const headers = { "x-api-key": bob }
      const poll = (path: string) =>
        Effect.promise(() => fetch(`${url}${path}?wait=60`, { headers }).then(({ status }) => status, String))
      const stream = Effect.promise(async () => {
        const answer = await fetch(`${url}/callbacks`, { headers: { ...headers, accept: "text/event-stream" } })
        return answer.text().then((text) => text.includes("retry:"), String)
      })
      const socket = Effect.callback<number>((resume) => {
        const connection = new WebSocket(`${url.replace("http", "ws")}/callbacks`, { headers })
        connection.onclose = ({ code }) => resume(Effect.succeed(code))
      })
      const stop = Effect.andThen(Effect.sleep("1 second"), Scope.close(scope, Exit.void))
      const [ofAccount, ofSubscription, streamed, closed] = yield* Effect.all(
        [poll("/callbacks"), poll(`${events}/${body.data.item.referenceId}/callbacks`), stream, socket, stop],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([ofAccount, ofSubscription], [200, 200])
      assert.isTrue(streamed)
      assert.strictEqual(closed, 1000)
    })
  )
})
