/**
 * Which network addresses callbacks may reach: those of the public Internet, and the hosts that the operator allows.
 *
 * A host name is resolved once for each connection, and the addresses that were checked are the ones connected to. One
 * forbidden address among them refuses them all.
 */
import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
import { CallbackUrlPolicy } from "@headwater/http/server/CallbackUrlPolicy"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The host's addresses are not all public. */
export class ForbiddenTarget extends Schema.TaggedError<ForbiddenTarget>()("ForbiddenTarget", { host: Schema.String }) {
  override get message() {
    return `${this.host} has an address that is not public`
  }
}

/** The host's name has no addresses, or they could not be looked up. */
export class UnresolvedTarget extends Schema.TaggedError<UnresolvedTarget>()("UnresolvedTarget", {
  host: Schema.String,
  reason: Schema.Literals([
    ...["NotFound", "Timeout", "Temporary", "Refused", "ServerFailure"],
    ...["BadName", "InvalidResponse", "Unsupported", "Unknown"]
  ] as ReadonlyArray<Dns.DnsErrorReason>),
  /** The resolver's own code, such as ECONNREFUSED where no name server answers. */
  code: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `${this.host} cannot be resolved: ${this.reason}`
  }
}

const unresolved = (host: string, error: Dns.DnsError | undefined) => {
  const { code } = (error?.cause ?? {}) as { readonly code?: unknown }
  return new UnresolvedTarget({
    host,
    reason: error?.reason ?? "NotFound",
    ...(typeof code === "string" ? { code } : {})
  })
}

/** Hosts, by name, to which no rule about addresses applies: the operator's exceptions. */
export const AllowedHosts = Context.Reference<ReadonlySet<string>>(
  "@headwater/daemon/delivery/CallbackTarget/AllowedHosts",
  {
    defaultValue: () => new Set<string>()
  }
)

const networks = (...list: ReadonlyArray<string>) => list.map(IpNetwork.fromStringUnsafe)

/** IPv4 blocks that are not of the public Internet (IANA special-purpose registry, multicast and reserved space). */
const forbiddenIpv4 = networks(
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, and with it cloud metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4" // reserved, broadcast
)

/**
 * The IPv6 block that is handed out for global unicast. Outside it are unspecified, loopback, IPv4-mapped and
 * -compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, unique-local, link-local, site-local and multicast ones.
 */
const globalUnicast = IpNetwork.fromStringUnsafe("2000::/3")

const forbiddenIpv6 = networks(
  "2001::/23", // protocol assignments: Teredo, benchmarking, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3ffe::/16", // the former 6bone
  "3fff::/20" // documentation
)

/** Whether an address is one of the public Internet. */
export const isPublic = (address: NetAddress.IpAddress): boolean =>
  NetAddress.isIpv4Address(address)
    ? !forbiddenIpv4.some((network) => IpNetwork.contains(network, address))
    : IpNetwork.contains(globalUnicast, address) &&
      !forbiddenIpv6.some((network) => IpNetwork.contains(network, address))

export class CallbackTarget extends Context.Service<
  CallbackTarget,
  {
    /** Reads a callback URL by the rules for its text. */
    readonly parse: (text: string) => Effect.Effect<URL, CallbackUrl.InvalidCallbackUrl>
    /** The addresses that a connection to the host may be made to, as of now. */
    readonly resolve: (
      host: string
    ) => Effect.Effect<Arr.NonEmptyReadonlyArray<NetAddress.IpAddress>, ForbiddenTarget | UnresolvedTarget>
    /** Whether the operator allows the host by name. */
    readonly isAllowed: (host: string) => boolean
    /** Whether a name server answers at all: asked for the name servers of the root, which every one knows. */
    readonly nameServerAnswers: Effect.Effect<boolean>
  }
>()("@headwater/daemon/delivery/CallbackTarget") {
  static readonly layer = Layer.effect(
    CallbackTarget,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const allowed = yield* AllowedHosts

  // Names of strangers are asked of DNS itself: the system's lookup would also read the hosts file and search local
  // domains, and its few threads would let one slow name server hold up every other host.
  const records = Effect.fnUntraced(function* (host: string) {
    const ask = (type: "A" | "AAAA") =>
      dns.resolve(host, type).pipe(
        Effect.map((found): ReadonlyArray<NetAddress.IpAddress> => found.map(({ address }) => address)),
        Effect.result
      )
    const answers = yield* Effect.all([ask("A"), ask("AAAA")], { concurrency: 2 })
    const addresses = answers.flatMap((answer) => (Result.isSuccess(answer) ? answer.success : []))
    if (Arr.isReadonlyArrayNonEmpty(addresses)) return addresses
    const failures = answers.flatMap((answer) => (Result.isFailure(answer) ? [answer.failure] : []))
    return yield* unresolved(host, failures.find(({ reason }) => reason !== "NotFound") ?? failures[0])
  })

  const resolve = Effect.fn("CallbackTarget.resolve")(function* (host: string) {
    if (allowed.has(host)) {
      return yield* dns.lookup(host).pipe(Effect.mapError((error) => unresolved(host, error)))
    }
    const addresses = yield* records(host)
    if (!addresses.every(isPublic)) return yield* new ForbiddenTarget({ host })
    return addresses
  })

  const nameServerAnswers = dns.resolve(".", "NS").pipe(
    Effect.as(true),
    Effect.catch(({ reason }) => Effect.succeed(isAnswer(reason))),
    Effect.timeoutOrElse({ duration: nameServerMillis, orElse: () => Effect.succeed(false) })
  )

  return CallbackTarget.of({
    isAllowed: (host) => allowed.has(host),
    nameServerAnswers,
    parse: (text) => Effect.fromResult(CallbackUrl.parse(text, allowed)),
    resolve
  })
})

/** How long a name server may take to tell of the root. */
const nameServerMillis = 2000

/** Whether a failed look-up tells something of the name, or nothing at all. */
export const isAnswer = (reason: Dns.DnsErrorReason): boolean =>
  !["Timeout", "Temporary", "Refused", "ServerFailure", "Unknown"].includes(reason)

/** How long a request waits for name servers, which are asked for much longer where they do not answer. */
const resolveMillis = 5000

/**
 * Refuses subscriptions that could never be called: by the text of their URL, or by what its host resolves to. A host
 * that does not resolve at the moment is taken; it is resolved again whenever something is sent.
 */
export const callbackUrlPolicy: Layer.Layer<never, never, CallbackTarget> = Layer.effect(
  CallbackUrlPolicy,
  Effect.map(CallbackTarget, (target) => ({
    check: (text: string) =>
      target.parse(text).pipe(
        Effect.tap(({ hostname }) =>
          target.resolve(hostname).pipe(
            Effect.timeoutOption(resolveMillis),
            Effect.catchTags({
              UnresolvedTarget: () => Effect.void,
              ForbiddenTarget: () =>
                Effect.fail(new CallbackUrl.InvalidCallbackUrl({ rule: "must have a host on the public Internet" }))
            })
          )
        )
      )
  }))
)
