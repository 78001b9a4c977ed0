/**
 * HTTPS to receivers: connections that are kept and only ever made to checked addresses, with the certificate checked
 * for the host name; no redirects; a bound on the time of everything and on what is read of an answer.
 */
import { connect, type LookupFunction, type Socket, type TcpSocketConnectOpts } from "node:net"
import { createSecureContext, getCACertificates } from "node:tls"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Schema from "effect/Schema"
import { buildConnector } from "undici"
import { CallbackTarget, ForbiddenTarget, isAnswer, UnresolvedTarget } from "./CallbackTarget.ts"
import * as FailureText from "./internal/FailureText.ts"
import * as HttpConnection from "./internal/HttpConnection.ts"
import * as HttpConnections from "./internal/HttpConnections.ts"
import * as Knock from "./internal/Knock.ts"
import * as OpenAnswers from "./internal/OpenAnswers.ts"
import * as RetryAfter from "./internal/RetryAfter.ts"

export interface Request {
  readonly method: "GET" | "POST"
  /** One that `CallbackTarget` has read. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Reply {
  readonly status: number
  /** Milliseconds of the pause that it asks for. */
  readonly retryAfter: number | undefined
  /** The first 4 KiB of the answer to a GET; of others nothing is kept. */
  readonly text: string
}

/** Whether an answer with this status accepts a callback. */
export const isAcceptance = (status: number): boolean => status >= 200 && status < 300

/**
 * How a request ended without an answer. `receiver`: the host was heard of during the request, and failed; `name`: its
 * name has no address that may be called; `expired`, `early`: by this machine's clock its certificate is valid no more, or
 * not yet, which may be the clock's fault; `silent`: a connection was made, and brought no answer in time; `unreached`,
 * `unresolved`: nothing at all was heard of the host, or of its name, which may be its fault or ours; `descriptors`,
 * `memory`: this machine has none left.
 */
export const Fault = Schema.Literals([
  ...["receiver", "name", "expired", "early", "silent", "unreached", "unresolved", "descriptors", "memory"]
] as const)
export type Fault = typeof Fault.Type

/** There was no answer, or none in time. */
export class NoReply extends Schema.TaggedError<NoReply>()("NoReply", { reason: Schema.String, fault: Fault }) {
  override get message() {
    return this.reason
  }
}

export class ReceiverClient extends Context.Service<
  ReceiverClient,
  {
    /** Name resolution, connection, TLS and answer together have the time of `ReceiverClientOptions`. */
    readonly request: (request: Request) => Effect.Effect<Reply, NoReply>
    /** Whether the host and port of a URL are heard of, if only to refuse a connection. */
    readonly reaches: (url: URL) => Effect.Effect<boolean>
    /** Whether a URL's host shows a certificate that is valid at this moment, by this machine's clock. */
    readonly isCertified: (url: URL) => Effect.Effect<boolean>
    /** Whether the host's name is being looked up. */
    readonly looksUp: (host: string) => boolean
  }
>()("@headwater/daemon/delivery/ReceiverClient") {
  static readonly layer = Layer.effect(
    ReceiverClient,
    Effect.suspend(() => make)
  )
}

export const ReceiverClientOptions = Context.Reference("@headwater/daemon/delivery/ReceiverClient/Options", {
  defaultValue: (): {
    readonly timeoutMillis: number
    /** Connections to one host and port, beside a quarter as many whose answers have not ended. */
    readonly connections: number
    /** An authority trusted beside the system's, as PEM. */
    readonly extraCa: string | undefined
  } => ({ timeoutMillis: 5000, connections: 16, extraCa: undefined })
})

type ConnectionsOptions = Omit<Parameters<typeof HttpConnections.make>[0], "connect"> & {
  readonly connect: buildConnector.BuildOptions & { readonly lookup: LookupFunction }
}

/** The way to receivers; a simulation has its own. */
export const Network = Context.Reference("@headwater/daemon/delivery/ReceiverClient/Network", {
  defaultValue: () => ({
    /** Who is trusted: the system's authorities, and another one, as PEM. */
    trust: (extraCa: string | undefined) =>
      createSecureContext({ ca: [...getCACertificates("default"), ...(extraCa === undefined ? [] : [extraCa])] }),
    connections: ({ connect, ...options }: ConnectionsOptions) =>
      HttpConnections.make({ ...options, connect: buildConnector({ ...connect, allowH2: false, maxCachedSessions }) }),
    connect: (options: TcpSocketConnectOpts): Socket => connect(options)
  })
})

/** TLS sessions that may be taken up again, of all hosts. */
const maxCachedSessions = 4096
/** Of an answer: its status is only had behind them. Node's own bound is a quarter of it. */
const maxHeadBytes = 65_536
const maxBytes = 4096
/** How long the end of an answer to a POST is waited for behind its status, so that the next request takes the same connection. */
const bodyMillis = 100
/**
 * Addresses of a host that there is time to try, one after another. Node gives each but the last 250 ms: too little for a
 * host on the other side of the world, or where a packet is lost, which then fails if its last address has no route.
 */
const addressesTried = 4

/**
 * A connection that the receiver closed instead of answering; a kept one it may have closed as it was used again. And one on
 * which no answer comes, as where a body follows a 204: on a kept one that is what the last answer has left.
 */
const unanswered = new Set([HttpConnection.closedCode, "ECONNRESET", "EPIPE", HttpConnection.notHttpCode])
/** Kept connections that a request is sent over at most: those of a host may all be closed at the same time. */
const keptTries = 4

/** Faults that the error itself tells, or a part of them. */
const told: Readonly<Record<string, Fault>> = {
  ...{ CERT_HAS_EXPIRED: "expired", CERT_NOT_YET_VALID: "early" },
  ...{ EMFILE: "descriptors", ENFILE: "descriptors" },
  ...{ ENOMEM: "memory", ENOBUFS: "memory" }
}
/** Of connections of which nothing was heard; the last two are of a firewall on this machine. */
const unreached = new Set([
  ...["ENETUNREACH", "ENETDOWN", "EHOSTUNREACH", "EHOSTDOWN", "ETIMEDOUT", "EADDRNOTAVAIL"],
  ...["UND_ERR_CONNECT_TIMEOUT", "EACCES", "EPERM"]
])

const faultOf = (error: Error): Fault => {
  if (error instanceof NoReply) return error.fault
  if (error instanceof ForbiddenTarget) return "name"
  if (error instanceof UnresolvedTarget) {
    return told[error.code ?? ""] ?? (isAnswer(error.reason) ? "name" : "unresolved")
  }
  // Of a host with several addresses, each has an error of its own.
  const codes = error instanceof AggregateError ? error.errors.map(FailureText.codeOf) : [FailureText.codeOf(error)]
  const telling = codes.find((code) => code in told)
  if (telling !== undefined) return told[telling]!
  return codes.every((code) => unreached.has(code)) ? "unreached" : "receiver"
}

const make = Effect.gen(function* () {
  const target = yield* CallbackTarget
  const { connections, extraCa, timeoutMillis } = yield* ReceiverClientOptions
  const network = yield* Network
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context<never>())

  /** Hosts whose names are being looked up, and how often. */
  const lookups = new Map<string, number>()
  const countLookup = (host: string, change: 1 | -1) => {
    const count = (lookups.get(host) ?? 0) + change
    if (count === 0) lookups.delete(host)
    else lookups.set(host, count)
  }

  const lookup: LookupFunction = (host, options, done) => {
    countLookup(host, 1)
    run(
      Effect.match(
        Effect.ensuring(
          target.resolve(host),
          Effect.sync(() => countLookup(host, -1))
        ),
        {
          onFailure: (error) => done(error, ""),
          onSuccess: (addresses) => {
            const found = addresses
              .map((address) => ({
                address: NetAddress.formatIp(address),
                family: NetAddress.isIpv4Address(address) ? 4 : 6
              }))
              .filter(({ family }) => !options.family || options.family === family)
            const [first] = found
            if (first === undefined) done(new NoReply({ reason: "no address of the wanted family", fault: "name" }), "")
            else if (options.all === true) done(null, found)
            else done(null, first.address, first.family)
          }
        }
      )
    )
  }

  const openConnections = Math.ceil(connections / 4)
  const leaveOpen = OpenAnswers.make(openConnections, timeoutMillis)

  const secureContext = network.trust(extraCa)
  const http = yield* Effect.acquireRelease(
    Effect.sync(() =>
      network.connections({
        connections: connections + openConnections,
        maxHeadBytes,
        connect: {
          lookup,
          timeout: timeoutMillis,
          autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMillis / addressesTried),
          secureContext
        }
      })
    ),
    (http) => Effect.sync(() => http.destroy())
  )

  const request = ({ body, headers, method, url }: Request) =>
    Effect.callback<Reply, NoReply>((resume) => {
      // A URL puts its parts together whenever it is asked for them.
      const { hostname, origin } = url
      const path = url.pathname + url.search
      const madeBefore = http.made(origin)
      const chunks: Array<Buffer> = []
      let size = 0
      let status = 0
      let retryAfter: number | undefined
      let cut = () => {}
      let tries = 0
      let ended = false
      /** Where the attempt has ended before the body has: to be called when that has ended, too. */
      let closed: (() => void) | undefined

      const end = (result: Effect.Effect<Reply, NoReply>) => {
        if (ended) return
        ended = true
        clearTimeout(timer)
        clearImmediate(reading)
        resume(result)
      }
      const answered = () => {
        const text = method === "GET" ? Buffer.concat(chunks).toString("utf8", 0, maxBytes) : ""
        end(Effect.succeed({ status, retryAfter, text }))
      }
      const timedOut = () => {
        // A connection that was there before proves nothing of the present.
        const connected = http.made(origin) > madeBefore
        const unresolved = lookups.has(hostname)
        return new NoReply({
          reason: `no answer within ${timeoutMillis} ms`,
          fault: connected ? "silent" : unresolved ? "unresolved" : "unreached"
        })
      }
      const leave = () => {
        closed = leaveOpen(origin, () => cut())
        answered()
      }
      // Once there is a status, how the body ends is of no interest. Of a POST it is not waited for.
      const expire = () => {
        if (status === 0) end(Effect.fail(timedOut()))
        else answered()
        cut()
      }
      // Where this process stood still, timers come before what arrived meanwhile has been read: an answer may be among it.
      let reading: NodeJS.Immediate | undefined
      const after = (millis: number, then: () => void) =>
        setTimeout(() => {
          reading = setImmediate(then)
        }, millis)
      let timer = after(timeoutMillis, expire)

      const exchange: HttpConnection.Exchange = {
        head: (head) => {
          status = head.status
          retryAfter = RetryAfter.read(head.retryAfter, clock.currentTimeMillisUnsafe())
        },
        body: (chunk) => {
          if (method === "GET") chunks.push(chunk)
          size += chunk.length
          if (size < maxBytes) return
          answered()
          cut()
        },
        continues: () => {
          if (method === "GET" || ended) return
          clearTimeout(timer)
          clearImmediate(reading)
          timer = after(bodyMillis, leave)
        },
        ended: () => {
          closed?.()
          answered()
        },
        failed: (error, isFirst) => {
          closed?.()
          if (ended) return
          if (status !== 0) answered()
          // Over a new connection it is the receiver's answer: it may have taken the callback.
          else if (unanswered.has(FailureText.codeOf(error)) && !isFirst && tries < keptTries) send()
          else end(Effect.fail(new NoReply({ reason: FailureText.reasonOf(error), fault: faultOf(error) })))
        }
      }
      const send = () => {
        tries++
        cut = http.send({ origin, path, method, headers, body }, exchange)
      }
      send()
      return Effect.sync(() => {
        ended = true
        clearTimeout(timer)
        clearImmediate(reading)
        cut()
      })
    })

  const open: Knock.Open = (to) => network.connect({ ...to, lookup })

  return ReceiverClient.of({
    request,
    reaches: (url) => Knock.reaches(open, url, (error) => faultOf(error) === "receiver"),
    isCertified: (url) => Knock.isCertified(open, url, secureContext),
    looksUp: (host) => lookups.has(host)
  })
})
