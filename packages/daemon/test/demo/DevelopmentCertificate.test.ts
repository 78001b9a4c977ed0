import { createServer, request, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"

const listen = (certificate: DevelopmentCertificate.DevelopmentCertificate) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer(certificate, (_, response) => response.end("ok"))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const get = (server: Server, servername: string, ca?: string) =>
  Effect.callback<number, Error>((resume) => {
    const { port } = server.address() as AddressInfo
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
    const server = yield* listen(certificate)
    assert.strictEqual(yield* get(server, "receiver.test", certificate.ca), 200)
    assert.strictEqual(yield* get(server, "", certificate.ca), 200)
    assert.match((yield* Effect.flip(get(server, "other.test", certificate.ca))).message, /altnames/)
    assert.match((yield* Effect.flip(get(server, "receiver.test"))).message, /certificate/)
  }).pipe(Effect.scoped)
)
