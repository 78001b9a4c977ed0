/** A receiver of the benchmarks: HTTPS in this process, answers 200 at once, and says when each request came. */
import { createServer } from "node:https"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as LocalServer from "../test/LocalServer.ts"

export const host = "localhost"

/** `onCallback` is told the path and the body, and when the first bytes came, by `performance.now()`. */
export const start = (onCallback: (path: string, body: string, at: number) => void) =>
  Effect.gen(function* () {
    const certificate = yield* DevelopmentCertificate.make([host])
    const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
      const at = performance.now()
      let body = ""
      request.setEncoding("utf8")
      request.on("data", (text: string) => {
        body += text
      })
      request.on("end", () => {
        response.writeHead(200, { "content-length": 2 }).end("ok")
        onCallback(request.url ?? "", body, at)
      })
    })
    const port = yield* LocalServer.listen(server)
    return { ca: certificate.ca, url: `https://${host}:${port}` }
  })
