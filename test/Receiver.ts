/** A receiver of callbacks for end-to-end tests: real HTTPS on 127.0.0.1, with whatever behaviour a test wants. */
import type { IncomingHttpHeaders } from "node:http"
import { createServer } from "node:https"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Webhook } from "standardwebhooks"
import * as LocalServer from "./LocalServer.ts"

export interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly body: any
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** Whether this attempt was answered 200. */
  readonly accepted: boolean
  readonly path: string
}

export interface Receiver {
  readonly url: string
  /** The authority that signed its certificate, as PEM. */
  readonly ca: string
  /** Every attempt so far, in the order of arrival. */
  readonly deliveries: Array<Delivery>
  readonly accepted: () => ReadonlyArray<Delivery>
  /** Waits until the accepted deliveries satisfy `enough`; dies after `seconds`, a guard against hanging, with what was there. */
  readonly until: (
    enough: (accepted: ReadonlyArray<Delivery>) => boolean,
    seconds?: number
  ) => Effect.Effect<ReadonlyArray<Delivery>>
}

/** Decides how to answer an attempt: a status, sent after some milliseconds; 200 accepts. Without one it hangs up. */
export type Behaviour = (text: string) => { readonly status: number | undefined; readonly afterMillis?: number }

export const accept: Behaviour = () => ({ status: 200 })

/** `host` is localhost, an address of this machine, or a name for `address`. */
export const start = (
  behaviour: Behaviour = accept,
  host = "localhost",
  address = host === "localhost" ? "127.0.0.1" : host
): Effect.Effect<Receiver, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { ca, cert, key } = yield* DevelopmentCertificate.make([host])
    const deliveries: Array<Delivery> = []
    const server = createServer({ cert, key }, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const { afterMillis = 0, status } = behaviour(text)
        deliveries.push({
          headers: request.headers,
          text,
          body: JSON.parse(text),
          at: Date.now(),
          accepted: status === 200,
          path: request.url ?? ""
        })
        setTimeout(() => {
          if (status === undefined) request.socket.destroy()
          else response.writeHead(status).end()
        }, afterMillis)
      })
    })
    const port = yield* LocalServer.listen(server, address)
    const accepted = () => deliveries.filter((delivery) => delivery.accepted)
    return {
      url: `https://${host}:${port}`,
      ca,
      deliveries,
      accepted,
      until: (enough, seconds = 120) =>
        Effect.gen(function* () {
          let seen = -1
          for (let i = 0; i < seconds * 50; i++) {
            // Some look through all that has come: again where more has, and now and then, since others look elsewhere too.
            if (deliveries.length !== seen || i % 25 === 0) {
              seen = deliveries.length
              if (enough(accepted())) return accepted()
            }
            yield* Effect.sleep("20 millis")
          }
          const last = accepted().slice(-5)
          const texts = last.map(({ text }) => text).join("\n")
          return yield* Effect.die(
            new Error(`Not received within ${seconds} s; ${accepted().length} callbacks so far, the last:\n${texts}`)
          )
        })
    }
  })

/** Throws unless both signature schemes verify. */
export const verify = (delivery: Delivery, secret: string): void => {
  new Webhook(secret, { format: "raw" }).verify(delivery.text, delivery.headers as Record<string, string>)
}
