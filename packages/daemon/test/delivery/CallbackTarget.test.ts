import type { AddressInfo } from "node:net"
import { createServer, type Server } from "node:net"
import { networkInterfaces } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { AllowedHosts, CallbackTarget, callbackUrlPolicy, isPublic } from "@headwater/daemon/delivery/CallbackTarget"
import { ReceiverClient, ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { CallbackUrlPolicy } from "@headwater/http/server/CallbackUrlPolicy"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as LocalServer from "../../../../test/LocalServer.ts"
import * as HttpsReceiver from "./HttpsReceiver.ts"

/** Addresses that are not of the public Internet, in every family and wrapping. */
const forbidden = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.0.170",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:8.8.8.8",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "2002:a00:1::",
  "3ffe::1",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
  "ff0e::1"
]

const open = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:200::1",
  "2400:cb00::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001::1",
  "2620:fe::fe"
]

describe("CallbackTarget", () => {
  for (const text of forbidden) {
    it(`does not take ${text} for public`, () => assert.isFalse(isPublic(NetAddress.ipFromStringUnsafe(text))))
  }
  for (const text of open) {
    it(`takes ${text} for public`, () => assert.isTrue(isPublic(NetAddress.ipFromStringUnsafe(text))))
  }
})

/** Listens wherever this machine can be reached from itself, on one port: a connection there is a hole. */
const trap = Effect.gen(function* () {
  let connections = 0
  const listen = (port: number, host: string) =>
    Effect.acquireRelease(
      Effect.callback<Server | undefined>((resume) => {
        const server = createServer((socket) => {
          connections++
          socket.destroy()
        })
        server.once("error", () => resume(Effect.undefined))
        server.listen({ port, host, ipv6Only: true }, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server?.close())
    )
  const first = yield* listen(0, "0.0.0.0")
  const { port } = first!.address() as AddressInfo
  const second = yield* listen(port, "::")
  return { port, connections: () => connections, ipv6: second !== undefined }
})

const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, scopeid }) => !internal && !scopeid)
  .map(({ address }) => address)

/** Hosts of this machine in every disguise, as URLs; PORT is where the trap listens. */
const urls = [
  "https://127.0.0.1:PORT/",
  "https://127.1:PORT/",
  "https://127.0.1:PORT/",
  "https://0.0.0.0:PORT/",
  "https://0:PORT/",
  "https://2130706433:PORT/",
  "https://0x7f000001:PORT/",
  "https://0x7f.0.0.1:PORT/",
  "https://0177.0.0.1:PORT/",
  "https://017700000001:PORT/",
  "https://0x7f.1:PORT/",
  "https://127.0.0.1.:PORT/",
  "https://%31%32%37.0.0.1:PORT/",
  "https://①②⑦.0.0.1:PORT/",
  "https://127。0。0。1:PORT/",
  "https://[::1]:PORT/",
  "https://[::]:PORT/",
  "https://[0:0:0:0:0:0:0:1]:PORT/",
  "https://[::ffff:127.0.0.1]:PORT/",
  "https://[::ffff:7f00:1]:PORT/",
  "https://[::127.0.0.1]:PORT/",
  "https://[64:ff9b::7f00:1]:PORT/",
  "https://[2002:7f00:1::]:PORT/",
  "https://localhost:PORT/",
  "https://LOCALHOST:PORT/",
  "https://localhost.:PORT/",
  "https://a.localhost:PORT/",
  "https://localhost.localdomain:PORT/",
  "https://ip6-localhost:PORT/",
  "https://x.local:PORT/",
  "https://x.internal:PORT/",
  "https://loopback.test.:PORT/",
  "https://user@loopback.test:PORT/",
  "https://user:secret@loopback.test:PORT/",
  "https://public.test@127.0.0.1:PORT/",
  "https://public.test:PORT@127.0.0.1:PORT/",
  "https://127.0.0.1:PORT#@public.test/",
  "https://127.0.0.1:PORT\\@public.test/",
  "https://public.test\\@127.0.0.1:PORT/",
  "https:127.0.0.1:PORT/",
  "https:///127.0.0.1:PORT/",
  "https:\\\\127.0.0.1:PORT/",
  " https://127.0.0.1:PORT/",
  "https://127.0.0.1:PORT /",
  "https://12\t7.0.0.1:PORT/",
  "http://127.0.0.1:PORT/",
  "http://loopback.test:PORT/",
  "ws://127.0.0.1:PORT/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:PORT/",
  "//127.0.0.1:PORT/",
  // Names that a resolver, hostile or not, sends here.
  "https://loopback.test:PORT/",
  "https://zero.test:PORT/",
  "https://loopback6.test:PORT/",
  "https://mapped.test:PORT/",
  "https://compatible.test:PORT/",
  "https://nat64.test:PORT/",
  "https://sixtofour.test:PORT/",
  "https://mixed.test:PORT/",
  "https://mixed-last.test:PORT/",
  "https://metadata.test:PORT/",
  "https://own.test:PORT/",
  "https://rebinding.test:PORT/",
  "https://linklocal6.test:PORT/",
  "https://unique.test:PORT/",
  "https://unspecified6.test:PORT/",
  "https://nothing.test:PORT/"
]

const hosts: Record<string, ReadonlyArray<string>> = {
  "public.test": ["203.0.113.7"],
  "loopback.test": ["127.0.0.1"],
  "zero.test": ["0.0.0.0"],
  "loopback6.test": ["::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "compatible.test": ["::127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "sixtofour.test": ["2002:7f00:1::"],
  "mixed.test": ["127.0.0.1", "93.184.216.34"],
  "mixed-last.test": ["93.184.216.34", "127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "own.test": own.length > 0 ? own : ["10.0.0.1"],
  "linklocal6.test": ["fe80::1"],
  "unique.test": ["fd00::1"],
  "unspecified6.test": ["::"]
}

const recordOf = (address: NetAddress.IpAddress) =>
  NetAddress.isIpv4Address(address) ? Dns.makeRecordUnsafe("A", { address }) : Dns.makeRecordUnsafe("AAAA", { address })

/** As `hosts` says; `rebinding.test` is public at every odd question (in space that is nobody's), here at every even. */
const dns = Effect.sync(() => {
  let asked = 0
  const addressesOf = (host: string) => (hosts[host] ?? []).map(NetAddress.ipFromStringUnsafe)
  return Dns.make({
    lookup: (host) => Effect.sync(() => addressesOf(host)),
    resolve: (host, type) =>
      Effect.sync(() => {
        if (host !== "rebinding.test") return addressesOf(host).map(recordOf)
        if (type === "A") asked++
        return asked % 2 === 1
          ? [recordOf(NetAddress.ipFromStringUnsafe("2e00::1"))]
          : [recordOf(NetAddress.ipv4Loopback)]
      })
  })
})

const guarded = (allowed: ReadonlyArray<string>, ca?: string, timeoutMillis = 1000) =>
  ReceiverClient.layer.pipe(
    Layer.provideMerge(callbackUrlPolicy),
    Layer.provideMerge(CallbackTarget.layer),
    Layer.provide(Layer.effect(Dns.Dns, dns)),
    Layer.provide(Layer.succeed(AllowedHosts, new Set(allowed))),
    Layer.provide(Layer.succeed(ReceiverClientOptions, { timeoutMillis, connections: 4, extraCa: ca }))
  )

describe("callbackUrlPolicy", () => {
  it.effect("takes a URL whose name servers do not answer in time", () =>
    Effect.gen(function* () {
      const policy = yield* CallbackUrlPolicy
      const checked = yield* Effect.forkChild(policy.check("https://silent.test/"))
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(checked.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(checked)).hostname, "silent.test")
    }).pipe(
      Effect.provide(
        callbackUrlPolicy.pipe(
          Layer.provide(CallbackTarget.layer),
          Layer.provide(Layer.succeed(Dns.Dns, Dns.make({ lookup: () => Effect.never, resolve: () => Effect.never })))
        )
      )
    )
  )
})

describe("ReceiverClient", () => {
  it.live(`reaches no forbidden address by any of ${urls.length} URLs`, () =>
    Effect.gen(function* () {
      assert.isAtLeast(urls.length, 60)
      const { connections, ipv6, port } = yield* trap
      assert.isTrue(ipv6)
      const target = yield* CallbackTarget
      const client = yield* ReceiverClient
      const policy = yield* CallbackUrlPolicy
      for (const template of urls) {
        const text = template.replaceAll("PORT", String(port))
        const send = Effect.flatMap(target.parse(text), (url) =>
          client.request({ method: "POST", url, headers: {}, body: "{}" })
        )
        yield* Effect.flip(send)
        // Twice, for a name that is answered differently the second time.
        yield* Effect.flip(send)
        const refused = yield* Effect.result(policy.check(text))
        assert.strictEqual(Result.isFailure(refused), !/rebinding|nothing/.test(text), text)
      }
      assert.strictEqual(connections(), 0)
    }).pipe(Effect.scoped, Effect.provide(guarded([])))
  )

  it.live("would have reached them without the guard: the trap works", () =>
    Effect.gen(function* () {
      const { connections, port } = yield* trap
      const client = yield* ReceiverClient
      const url = new URL(`https://loopback.test:${port}/`)
      yield* Effect.flip(client.request({ method: "POST", url, headers: {}, body: "{}" }))
      assert.isAtLeast(connections(), 1)
    }).pipe(Effect.scoped, Effect.provide(guarded(["loopback.test"])))
  )

  const world = Effect.gen(function* () {
    const certificate = yield* DevelopmentCertificate.make(["loopback.test"])
    const context = yield* Layer.build(guarded(["loopback.test", "own.test"], certificate.ca, 1_000))
    const request = (port: number, host = "loopback.test", path = "/", method: "GET" | "POST" = "POST") =>
      Effect.flatMap(ReceiverClient, (client) =>
        client.request({
          method,
          url: new URL(`https://${host}:${port}${path}`),
          headers: {},
          ...(method === "POST" ? { body: "{}" } : {})
        })
      ).pipe(Effect.provide(context))
    return { certificate, request }
  })

  it.live("follows no redirect", () =>
    Effect.gen(function* () {
      const { connections, port } = yield* trap
      const { certificate, request } = yield* world
      for (const code of [301, 302, 303, 307, 308]) {
        const receiver = yield* HttpsReceiver.start(
          certificate,
          HttpsReceiver.status(code, { location: `https://127.0.0.1:${port}/` })
        )
        assert.strictEqual((yield* request(receiver.port)).status, code)
        assert.strictEqual(receiver.received.length, 1)
      }
      assert.strictEqual(connections(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("checks the certificate for the host's name", () =>
    Effect.gen(function* () {
      const { request } = yield* world
      const other = yield* DevelopmentCertificate.make(["other.test"])
      const stranger = yield* HttpsReceiver.start(other)
      assert.match((yield* Effect.flip(request(stranger.port))).message, /certificate/i)
      const { certificate, request: again } = yield* world
      const misnamed = yield* HttpsReceiver.start(certificate)
      if (own.length > 0) yield* Effect.flip(again(misnamed.port, "own.test"))
      assert.strictEqual(misnamed.received.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("keeps its connection, reads 4 KiB of an answer at most, and takes its status all the same", () =>
    Effect.gen(function* () {
      const { certificate, request } = yield* world
      let sent = 0
      const endless = yield* HttpsReceiver.start(certificate, (response, { path }) => {
        response.writeHead(200)
        const more = () => {
          while (!response.destroyed && sent < 50_000_000) {
            sent += 65_536
            if (response.write("x".repeat(65_536))) continue
            response.once("drain", more)
            break
          }
        }
        if (path === "/short") response.end("short")
        else more()
      })
      for (let i = 0; i < 5; i++)
        assert.strictEqual((yield* request(endless.port, undefined, "/short", "GET")).text, "short")
      assert.isAtMost(endless.connections(), 2)
      const reply = yield* request(endless.port, undefined, "/", "GET")
      assert.strictEqual(reply.status, 200)
      assert.strictEqual(reply.text.length, 4096)
      assert.deepInclude(yield* request(endless.port), { status: 200, text: "" })
      assert.isBelow(sent, 10_000_000)
    }).pipe(Effect.scoped)
  )

  it.live("waits for no connection, no answer and no body for good", () =>
    Effect.gen(function* () {
      const { certificate, request } = yield* world
      const silent = yield* HttpsReceiver.start(certificate, () => {})
      assert.match((yield* Effect.flip(request(silent.port))).message, /no answer within 1000 ms/)
      const dripping = yield* HttpsReceiver.start(certificate, (response) => {
        response.writeHead(202)
        response.write("x")
      })
      assert.strictEqual((yield* request(dripping.port)).status, 202)
      // A port that takes connections and never speaks TLS.
      const mute = yield* LocalServer.listen(createServer(() => {}))
      assert.match((yield* Effect.flip(request(mute))).message, /no answer within 1000 ms/)
    }).pipe(Effect.scoped)
  )

  it.live("reads a pause in seconds and as a date", () =>
    Effect.gen(function* () {
      const { certificate, request } = yield* world
      const pauseOf = Effect.fnUntraced(function* (value: string) {
        const receiver = yield* HttpsReceiver.start(certificate, HttpsReceiver.status(503, { "retry-after": value }))
        return (yield* request(receiver.port)).retryAfter
      })
      assert.strictEqual(yield* pauseOf("120"), 120_000)
      const pause = yield* pauseOf(new Date(Date.now() + 60_000).toUTCString())
      assert.isTrue(pause !== undefined && pause > 55_000 && pause <= 60_000)
      assert.strictEqual(yield* pauseOf("Wed, 21 Oct 2015 07:28:00 GMT"), 0)
      assert.isUndefined(yield* pauseOf("soon"))
      // Neither is a date, though `Date.parse` finds one that is long past: the next attempt would come at once.
      assert.isUndefined(yield* pauseOf("-5"))
      assert.isUndefined(yield* pauseOf("1.5"))
      assert.isAbove((yield* pauseOf("99999999999"))!, 3_600_000)
    }).pipe(Effect.scoped)
  )

  it.live("asks once more where a kept connection turns out to be closed", () =>
    Effect.gen(function* () {
      const { certificate, request } = yield* world
      const receiver = yield* HttpsReceiver.start(certificate, (response, { path }) => {
        if (path === "/cut" && receiver.received.filter((one) => one.path === "/cut").length === 1) {
          response.socket?.destroy()
        } else response.end()
      })
      yield* request(receiver.port, undefined, "/keep")
      // A request that follows at once would go over another connection.
      yield* Effect.sleep("50 millis")
      assert.strictEqual((yield* request(receiver.port, undefined, "/cut")).status, 200)
    }).pipe(Effect.scoped)
  )
})
