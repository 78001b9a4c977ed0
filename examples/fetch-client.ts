/**
 * Subscribes an address with the client of one `fetch`, and shows what the account then has: promises, errors by their
 * codes, and a list page by page.
 *
 * `node examples/fetch-client.ts http://127.0.0.1:8080 hw_… 0x7099… https://receiver.example/callbacks a-secret`
 */
import * as Client from "@headwater/http/client"

const [baseUrl = "", apiKey = "", address = "", callbackUrl = "", callbackSecretKey = ""] = process.argv.slice(2)
const params = { blockchain: "ethereum", network: "devnet" }
const client = Client.make({ baseUrl, apiKey })

const payload = { data: { item: { address, callbackUrl, callbackSecretKey, receiveCallbackOn: 1 } } }
await client.subscriptions["address-coins-transactions-confirmed"]({ params, payload }).then(
  ({ item }) => console.log(`subscribed ${item.referenceId}`),
  (failure: unknown) => {
    // Made already, in an earlier run of this program.
    if (!Client.isServiceError(failure, "already_exists")) throw failure
    console.log(failure.message)
  }
)
for await (const { address, callbackUrl, isActive } of Client.items(client.bulk.list, { params })) {
  console.log(`${isActive ? "active" : "inactive"} ${address} ${callbackUrl}`)
}
