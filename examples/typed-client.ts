/**
 * Subscribes an address with the typed client, and shows what the account then has. Every operation of the interface is
 * a method; what it takes and gives is typed, and its errors are values that can be told apart.
 *
 * `node examples/typed-client.ts http://127.0.0.1:8080 hw_… 0x7099… https://receiver.example/callbacks a-secret`
 */
import * as Client from "@headwater/http/contract/Client"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

const [baseUrl = "", apiKey = "", address = "", callbackUrl = "", callbackSecretKey = ""] = process.argv.slice(2)
const params = { blockchain: "ethereum", network: "devnet" }

const program = Effect.gen(function* () {
  const client = yield* Client.makeFetch({ baseUrl, apiKey })
  const subscribe = client.subscriptions["address-coins-transactions-confirmed"]({
    params,
    query: {},
    payload: { data: { item: { address, callbackUrl, callbackSecretKey, receiveCallbackOn: 1 } } }
  })
  yield* subscribe.pipe(
    Effect.flatMap(({ item }) => Console.log(`subscribed ${item.referenceId}`)),
    // Made already, in an earlier run of this program.
    Effect.catchTag("already_exists", ({ message }) => Console.log(message))
  )
  const { items, total } = yield* client.subscriptions.list({ params, query: { limit: 50 } })
  for (const { address, callbackUrl, isActive } of items) {
    yield* Console.log(`${isActive ? "active" : "inactive"} ${address} ${callbackUrl}`)
  }
  yield* Console.log(`${total} in all`)
})

await Effect.runPromise(program)
