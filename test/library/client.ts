/** What the README of http says of the client of one fetch. */
import * as Client from "@headwater/http/client"

const client = Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" })
export const run = async () => {
  const { item } = await client.credits.balance()
  const params = { blockchain: "ethereum", network: "mainnet" }
  for await (const one of Client.items(client.bulk.list, { params })) console.log(one.referenceId)
  return item.available
}
