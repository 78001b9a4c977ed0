/**
 * DNS by the name servers that this machine has at the time. A resolver of Node's reads them once, as it is made: after a
 * change of network, or of `/etc/resolv.conf`, it would ask the former ones for as long as the process lives.
 */
import { Resolver } from "node:dns"
import * as NodeDns from "@effect/platform-node/NodeDns"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as Scope from "effect/Scope"

/** The machine's name servers as text, and a resolver that asks those which are there as it is made. */
export const Machine = Context.Reference("@headwater/daemon/delivery/MachineDns/Machine", {
  defaultValue: () => ({
    nameServers: () => new Resolver().getServers().join(", "),
    resolver: Effect.orDie(NodeDns.make())
  })
})

/** How long the name servers that were read last are taken for those of the machine, in milliseconds. */
const readMillis = 5_000

/**
 * What is read where `/etc/resolv.conf` is not there, names none or cannot be opened: for a moment while the file is written
 * anew, or while no descriptor is left.
 */
const noneRead = "127.0.0.1"

export const layer: Layer.Layer<Dns.Dns> = Layer.effect(
  Dns.Dns,
  Effect.gen(function* () {
    const { nameServers, resolver } = yield* Machine
    const scope = yield* Effect.scope
    let read = nameServers()
    /** Those that `dns` asks. */
    let known = read
    let readAt = yield* Clock.currentTimeMillis
    let dns = yield* resolver
    const current = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (Math.abs(now - readAt) < readMillis) return dns
      readAt = now
      const before = read
      read = nameServers()
      if (read === known || (read === noneRead && before !== noneRead)) return dns
      yield* Effect.logInfo(`Names are asked of ${read} now, before of ${known}`)
      // The former one is kept to the end: what it has been asked may still be answered.
      dns = yield* Effect.provideService(resolver, Scope.Scope, scope)
      known = read
      return dns
    })
    return Dns.make({
      lookup: (host, family) => dns.lookup(host, family === undefined ? {} : { family }),
      resolve: (name, type) => Effect.flatMap(current, (dns) => dns.resolve(name, type))
    })
  })
)
