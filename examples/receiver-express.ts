/**
 * A receiver of callbacks with Express, which checks signatures with the `standardwebhooks` package.
 *
 * `PORT=9443 TLS_KEY=key.pem TLS_CERT=cert.pem CALLBACK_SECRET=… node examples/receiver-express.ts`
 */
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import express from "express"
import { Webhook, WebhookVerificationError } from "standardwebhooks"

const { CALLBACK_SECRET = "", PORT = "9443", TLS_CERT = "", TLS_KEY = "" } = process.env
// A secret that begins with whsec_ holds base64; any other one is the key itself.
const webhook = new Webhook(CALLBACK_SECRET, CALLBACK_SECRET.startsWith("whsec_") ? {} : { format: "raw" })

/** Keys of callbacks that were handled. A real receiver writes them in the transaction that acts on the callback. */
const handled = new Set<string>()

const app = express()
// The bytes as they came: what is parsed and written again need not be what was signed.
app.post("/callbacks", express.raw({ type: "application/json" }), (request, response) => {
  try {
    webhook.verify(request.body, request.headers as Record<string, string>)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(401).end()
    return
  }
  const callback = JSON.parse(request.body.toString("utf8"))
  // The same callback may come twice: its key says so. It is accepted again, and not acted on again.
  if (!handled.has(callback.idempotencyKey)) {
    handled.add(callback.idempotencyKey)
    console.log(JSON.stringify({ sequence: request.header("x-callback-sequence"), ...callback.data }))
  }
  response.status(204).end()
})

createServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) }, app).listen(Number(PORT), "127.0.0.1", () =>
  console.error("listening")
)
