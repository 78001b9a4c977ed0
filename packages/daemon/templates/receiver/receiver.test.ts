/** Sends the receiver what the service would send, the same again, and what somebody else might. */
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Signature from "@headwater/core/events/Signature"
import { receiver } from "./receiver.ts"

const secret = "a secret of the test"
const body = JSON.stringify({
  idempotencyKey: "4b6f",
  data: { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", item: {} }
})

test("keeps an event once, and refuses what is not signed by the secret", async (context) => {
  const handled: Array<string> = []
  const database = new DatabaseSync(":memory:")
  const server = createServer(receiver(database, secret, ({ data }) => handled.push(data.event)))
  context.after(() => server.close().closeAllConnections())
  await once(server.listen(0, "127.0.0.1"), "listening")
  const send = async (signedBy: string, text: string) => {
    const timestamp = Math.floor(Date.now() / 1000)
    const headers = { ...Signature.headers({ secrets: [signedBy], id: "4b6f", timestamp, body }) }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`
    return (await fetch(url, { method: "POST", headers, body: text })).status
  }
  assert.equal(await send("another secret", body), 401)
  assert.equal(await send(secret, `${body} `), 401)
  assert.equal(await send(secret, body), 200)
  assert.equal(await send(secret, body), 200)
  assert.deepEqual(handled, ["ADDRESS_COINS_TRANSACTION_CONFIRMED"])
  assert.equal(database.prepare("select count(*) as count from event").get()?.count, 1)
})
