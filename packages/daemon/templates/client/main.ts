/** Subscribes an address through a running service, and shows what the account has. The settings are in `.env`. */
import * as Client from "@headwater/http"

const { API_KEY, SERVICE = "http://127.0.0.1:8080" } = process.env
const { ADDRESS = "", CALLBACK_SECRET = "", CALLBACK_URL = "", CHAIN = "ethereum/devnet" } = process.env
if (!API_KEY) {
  console.error("Set API_KEY in .env: the demo prints one, and so does headwater keys create ACCOUNT")
  process.exit(1)
}

const [blockchain = "", network = ""] = CHAIN.split("/")
const params = { blockchain, network }
const client = Client.make({ baseUrl: SERVICE, apiKey: API_KEY })

try {
  const item = { address: ADDRESS, callbackUrl: CALLBACK_URL, callbackSecretKey: CALLBACK_SECRET, receiveCallbackOn: 1 }
  const subscription = await client.subscriptions["address-coins-transactions-confirmed"]({
    params,
    payload: { data: { item } }
  })
  console.log(`Subscribed ${subscription.item.address}, reference ${subscription.item.referenceId}`)
} catch (failure) {
  // Made already, in an earlier run of this program.
  if (!Client.isServiceError(failure, "already_exists")) throw failure
  console.log(failure.message)
}
for await (const { address, callbackUrl, eventType, isActive } of Client.items(client.subscriptions.list, { params })) {
  console.log(`${isActive ? "active" : "inactive"} ${eventType} ${address ?? ""} ${callbackUrl}`)
}
