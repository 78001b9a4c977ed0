import { createServer, request } from "node:https"
import { assert, it } from "@effect/vitest"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"

const listen = (certificate: DevelopmentCertificate.DevelopmentCertificate) =>
  LocalServer.listen(createServer(certificate, (_, response) => response.end("ok")))

const get = (port: number, servername: string, ca?: string) =>
  Effect.callback<number, Error>((resume) => {
    const options = { host: "127.0.0.1", port, servername, agent: false, ...(ca === undefined ? {} : { ca }) }
    request(options, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
      .on("error", (error) => resume(Effect.fail(error)))
      .end()
  })

it.live("serves the hosts it was made for to those who trust its authority, and nobody else", () =>
  Effect.gen(function* () {
    const certificate = yield* DevelopmentCertificate.make(["receiver.test", "127.0.0.1"])
    const port = yield* listen(certificate)
    assert.strictEqual(yield* get(port, "receiver.test", certificate.ca), 200)
    assert.strictEqual(yield* get(port, "", certificate.ca), 200)
    assert.match((yield* Effect.flip(get(port, "other.test", certificate.ca))).message, /altnames/)
    assert.match((yield* Effect.flip(get(port, "receiver.test"))).message, /certificate/)
  }).pipe(Effect.scoped)
)
