/**
 * A receiver of callbacks as a customer would write one: an HTTPS server that answers 204 and checks both signatures of
 * each callback by the secret, the headers and the raw body alone.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { createServer } from "node:https"
import * as UnixTime from "@headwater/indexer/UnixTime"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type { DevelopmentCertificate } from "./DevelopmentCertificate.ts"

/** What is shown of an item; each kind of event has some of these. */
const Item = Schema.Struct({
  direction: Schema.optionalKey(Schema.String),
  amount: Schema.optionalKey(Schema.String),
  unit: Schema.optionalKey(Schema.String),
  token: Schema.optionalKey(Schema.Struct({ amount: Schema.String, symbol: Schema.String })),
  height: Schema.optionalKey(Schema.Int),
  minedInBlock: Schema.optionalKey(Schema.Struct({ height: Schema.Int })),
  transactionId: Schema.optionalKey(Schema.String),
  parentTransactionId: Schema.optionalKey(Schema.String),
  revertedIdempotencyKey: Schema.optionalKey(Schema.String)
})

const Body = Schema.fromJsonString(
  Schema.Struct({
    referenceId: Schema.String,
    idempotencyKey: Schema.String,
    data: Schema.Struct({ event: Schema.String, item: Item })
  })
)

export interface Received {
  readonly body: typeof Body.Type
  /** Whether `x-signature` and the Standard Webhooks signature are right. */
  readonly verified: { readonly xSignature: boolean; readonly standardWebhooks: boolean }
}

const toleranceSeconds = 300

const equal = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

/** Checks the headers of a callback against its raw body; `now` in seconds since the Unix epoch. */
export const verify = (
  secret: string,
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  body: string,
  now: number
): Received["verified"] => {
  const header = (name: string) => String(headers[name] ?? "")
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret)
  const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${body}`
  const expected = createHmac("sha256", key).update(signed).digest()
  return {
    xSignature: equal(Buffer.from(header("x-signature"), "hex"), createHmac("sha256", secret).update(body).digest()),
    standardWebhooks:
      Math.abs(now - Number(header("webhook-timestamp"))) <= toleranceSeconds &&
      header("webhook-signature")
        .split(" ")
        .some((part) => part.startsWith("v1,") && equal(Buffer.from(part.slice(3), "base64"), expected))
  }
}

const readBody = (request: IncomingMessage) =>
  Effect.tryPromise(async () => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString("utf8")
  })

/** Listens on a port of 127.0.0.1 until the scope ends; the queue gives the callbacks that are received. */
export const listen = Effect.fn("Receiver.listen")(function* (options: {
  readonly port: number
  readonly secret: string
  readonly certificate: DevelopmentCertificate
}) {
  const received = yield* Queue.unbounded<Received>()
  const receive = Effect.fnUntraced(function* (request: IncomingMessage) {
    const text = yield* readBody(request)
    const body = yield* Schema.decodeEffect(Body)(text)
    const now = yield* UnixTime.seconds
    yield* Queue.offer(received, { body, verified: verify(options.secret, request.headers, text, now) })
  })
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const server = createServer({ key: options.certificate.key, cert: options.certificate.cert }, (request, response) => {
    run(
      receive(request).pipe(
        Effect.match({
          onSuccess: () => response.writeHead(204).end(),
          onFailure: () => response.writeHead(400).end()
        })
      )
    )
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(options.port, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  return received
})
