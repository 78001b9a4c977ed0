/** The floor of delivery: a bare undici loop that signs and posts, without a store. */
import { createHmac } from "node:crypto"
import type * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import { Agent } from "undici"

export interface Post {
  readonly path: string
  readonly id: string
  readonly body: string
}

/** Posts over as many connections as are named, which stay open until the scope ends. */
export const make = Effect.fnUntraced(function* (options: {
  readonly certificate: DevelopmentCertificate.DevelopmentCertificate
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly secret: string
}) {
  const { certificate, connections, host, port, secret } = options
  const agent = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          connections,
          allowH2: false,
          connect: {
            ca: certificate.ca,
            lookup: (_, options, found) =>
              options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4)
          }
        })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
  const post = ({ body, id, path }: Post) =>
    new Promise<void>((resolve, reject) => {
      const timestamp = String(Math.floor(Date.now() / 1000))
      const headers = {
        "content-type": "application/json",
        "user-agent": "Headwater",
        "x-callback-sequence": "1",
        "x-signature": createHmac("sha256", secret).update(body).digest("hex"),
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`
      }
      agent.dispatch(
        { origin: `https://${host}:${port}`, path, method: "POST", headers, body },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error)
        }
      )
    })
  /** Posts all, one behind another on each connection. */
  return (posts: ReadonlyArray<Post>) =>
    Effect.promise(async () => {
      let next = 0
      const worker = async () => {
        for (let one = posts[next++]; one !== undefined; one = posts[next++]) await post(one)
      }
      await Promise.all(Array.from({ length: connections }, worker))
    })
})
