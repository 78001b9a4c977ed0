/** A receiver in a process of its own, which answers 200 to everything and says when each callback came. */
import { fork } from "node:child_process"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import type * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as Effect from "effect/Effect"
import * as MachineTime from "./MachineTime.ts"

export const start = Effect.fnUntraced(function* (certificate: DevelopmentCertificate.DevelopmentCertificate) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(import.meta.url), ["receive"])),
    (child) => Effect.sync(() => child.kill())
  )
  const ask = <A>(question: object) =>
    Effect.promise(() => {
      const answered = new Promise<A>((resolve) => child.once("message", (value) => resolve(value as A)))
      child.send(question)
      return answered
    })
  return {
    port: yield* ask<number>({ certificate }),
    /** When `count` callbacks have come since the last time, and no earlier: when each of them came, by `MachineTime`. */
    arrivals: (count: number) => ask<ReadonlyArray<number>>({ count })
  }
})

const receive = (certificate: DevelopmentCertificate.DevelopmentCertificate) => {
  let arrivals: Array<number> = []
  let wanted = Number.POSITIVE_INFINITY
  const tell = () => {
    if (arrivals.length < wanted) return
    process.send!(arrivals)
    arrivals = []
    wanted = Number.POSITIVE_INFINITY
  }
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
    arrivals.push(MachineTime.millis())
    request.resume().on("end", () => {
      response.writeHead(200, { "content-length": 2 }).end("ok")
      tell()
    })
  })
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
  process.on("message", ({ count }: { readonly count: number }) => {
    wanted = count
    tell()
  })
}

if (process.argv[2] === "receive") {
  process.once("disconnect", () => process.exit())
  process.once("message", ({ certificate }: { certificate: DevelopmentCertificate.DevelopmentCertificate }) =>
    receive(certificate)
  )
}
