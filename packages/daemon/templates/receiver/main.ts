/**
 * A receiver of Headwater's callbacks, with the settings in `.env`.
 *
 * Callbacks go over HTTPS: put a proxy with a certificate before this program, or name the certificate's files in TLS_CERT and
 * TLS_KEY. While this machine cannot be reached, an account's callbacks are passed on by
 * `HEADWATER_API_KEY=hw_… headwater listen --forward http://127.0.0.1:3000/callbacks`.
 */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { DatabaseSync } from "node:sqlite"
import { receiver } from "./receiver.ts"

const { CALLBACK_SECRET, PORT = "3000", STORE = "events.db", TLS_CERT, TLS_KEY } = process.env
if (!CALLBACK_SECRET) {
  console.error("Set CALLBACK_SECRET in .env: the callbackSecretKey of the subscription")
  process.exit(1)
}

// Somebody may be reading the file when an event is written: that waits for the end of the reading, and else would fail.
const database = new DatabaseSync(STORE, { timeout: 5_000 })
const answer = receiver(database, CALLBACK_SECRET, ({ data }) => {
  console.log(`Verified and kept: ${data.event} ${JSON.stringify(data.item)}`)
})
const isTls = TLS_CERT !== undefined && TLS_KEY !== undefined
const server = isTls
  ? createTlsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, answer)
  : createServer(answer)
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`Listening on ${isTls ? "https" : "http"}://127.0.0.1:${PORT}/callbacks`)
})
