import { assert, describe, it } from "@effect/vitest"
import * as MachineDns from "@headwater/daemon/delivery/MachineDns"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"

/** A machine whose only name server gives its own address as that of every name. */
const machine = (present: () => string) =>
  Layer.succeed(MachineDns.Machine, {
    nameServers: present,
    resolver: Effect.sync(() => {
      const address = Result.getOrThrow(NetAddress.ipv4FromString(present()))
      const answer = Effect.succeed([Dns.makeRecordUnsafe("A", { address })])
      return Dns.make({ lookup: () => Effect.succeed([address]), resolve: () => answer })
    })
  })

const addressOf = (name: string) =>
  Effect.map(
    Effect.flatMap(Dns.Dns, (dns) => dns.resolve(name, "A")),
    ([{ address }]) => NetAddress.formatIp(address)
  )

describe("MachineDns", () => {
  it.effect("asks the name servers that the machine has come to have since the start", () => {
    let present = "10.0.0.1"
    return Effect.gen(function* () {
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.1")
      present = "10.0.0.2"
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.2")
    }).pipe(Effect.provide(MachineDns.layer.pipe(Layer.provide(machine(() => present)))))
  })

  it.effect("asks the former ones while /etc/resolv.conf is empty for a moment, and 127.0.0.1 in the end", () => {
    let present = "10.0.0.1"
    return Effect.gen(function* () {
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.1")
      // The file is empty for a moment, or no descriptor is left to open it.
      present = "127.0.0.1"
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.1")
      present = "10.0.0.2"
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.2")
      present = "127.0.0.1"
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.2")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "127.0.0.1")
    }).pipe(Effect.provide(MachineDns.layer.pipe(Layer.provide(machine(() => present)))))
  })

  it.effect("asks the new ones in the end where no resolver can be made at first", () => {
    let present = "10.0.0.1"
    let made = 0
    const failing = Layer.effect(
      MachineDns.Machine,
      Effect.map(MachineDns.Machine, (own) => ({
        ...own,
        resolver: Effect.suspend(() => (++made === 2 ? Effect.die(new Error("ENOMEM")) : own.resolver))
      }))
    ).pipe(Layer.provide(machine(() => present)))
    return Effect.gen(function* () {
      present = "10.0.0.2"
      yield* TestClock.adjust("5 seconds")
      yield* Effect.exit(addressOf("hooks.example.com"))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* addressOf("hooks.example.com"), "10.0.0.2")
    }).pipe(Effect.provide(MachineDns.layer.pipe(Layer.provide(failing))))
  })

  it.effect("reads them every five seconds at most, and makes a resolver where they have changed", () => {
    let reads = 0
    let made = 0
    const counted = Layer.effect(
      MachineDns.Machine,
      Effect.map(MachineDns.Machine, (own) => ({
        nameServers: () => `${reads++ < 2}`,
        resolver: Effect.andThen(
          Effect.sync(() => made++),
          own.resolver
        )
      }))
    ).pipe(Layer.provide(machine(() => "10.0.0.1")))
    return Effect.gen(function* () {
      for (let second = 0; second < 12; second++) {
        yield* addressOf("hooks.example.com")
        yield* TestClock.adjust("1 second")
      }
      // At the start, after five seconds and after ten, which found another one.
      assert.deepStrictEqual([reads, made], [3, 2])
    }).pipe(Effect.provide(MachineDns.layer.pipe(Layer.provide(counted))))
  })
})
