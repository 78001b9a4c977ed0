/**
 * A receiver of callbacks with Fastify, which checks signatures itself: they are one HMAC.
 *
 * `PORT=9443 TLS_KEY=key.pem TLS_CERT=cert.pem CALLBACK_SECRET=… node examples/receiver-fastify.ts`
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { readFileSync } from "node:fs"
import type { IncomingHttpHeaders } from "node:http"
import fastify from "fastify"

const { CALLBACK_SECRET = "", PORT = "9443", TLS_CERT = "", TLS_KEY = "" } = process.env
const key = CALLBACK_SECRET.startsWith("whsec_") ? Buffer.from(CALLBACK_SECRET.slice(6), "base64") : CALLBACK_SECRET
const toleranceSeconds = 300

/** Whether the raw body was signed with our secret, and a short while ago. */
const isGenuine = (headers: IncomingHttpHeaders, body: Buffer): boolean => {
  const { "webhook-id": id, "webhook-signature": signatures, "webhook-timestamp": timestamp } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest()
  // While a secret is being rotated there are two, separated by a space; one that fits is enough.
  return String(signatures)
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice(3), "base64"))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
}

/** Keys of callbacks that were handled. A real receiver writes them in the transaction that acts on the callback. */
const handled = new Set<string>()

const app = fastify({ https: { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) } })
// The bytes as they came: what is parsed and written again need not be what was signed.
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body))
app.post<{ Body: Buffer }>("/callbacks", async (request, reply) => {
  if (!isGenuine(request.headers, request.body)) return reply.code(401).send()
  const callback = JSON.parse(request.body.toString("utf8"))
  // The same callback may come twice: its key says so. It is accepted again, and not acted on again.
  if (!handled.has(callback.idempotencyKey)) {
    handled.add(callback.idempotencyKey)
    console.log(JSON.stringify({ sequence: request.headers["x-callback-sequence"], ...callback.data }))
  }
  return reply.code(204).send()
})

await app.listen({ port: Number(PORT), host: "127.0.0.1" })
console.error("listening")
