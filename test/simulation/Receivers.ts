/** The hosts that callbacks go to, and the name servers that know them, with moods in which they fail. */
import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import { createSecureContext } from "node:tls"
import * as HttpAnswer from "@headwater/daemon/delivery/internal/HttpAnswer"
import * as HttpConnection from "@headwater/daemon/delivery/internal/HttpConnection"
import type * as HttpConnections from "@headwater/daemon/delivery/internal/HttpConnections"
import type { Network } from "@headwater/daemon/delivery/ReceiverClient"
import * as Effect from "effect/Effect"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import type { Chance } from "./Chance.ts"
import * as SimulatedHttp from "./SimulatedHttp.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"

/** What a host may be like beside `well`; the last four are its name's. */
export const moods = [
  ...[
    "dead",
    "silent",
    "slow",
    "late",
    "failing",
    "flapping",
    "throttling",
    "gone",
    "redirecting",
    "losing",
    "hangingUp"
  ],
  ...["unresolved", "unknown", "private", "mixed"]
] as const
export type Mood = (typeof moods)[number] | "well"

/** Those that find most, oftener than others. */
export const oftenest: ReadonlyArray<Mood> = [...moods, "private", "mixed", "mixed"]

/** A request that has reached a host. */
export interface Arrival {
  readonly at: number
  readonly host: string
  /** The address that was connected to. */
  readonly address: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: promises read what callbacks should have
  readonly body: any
  /** The status that the program was answered in time; undefined where it was none. */
  status: number | undefined
  /** When the program was answered; undefined where it was not, or did not live to hear it. */
  answeredAt: number | undefined
}

export interface Receiver {
  readonly host: string
  mood: Mood
  /** The texts of its challenge records. */
  readonly challenges: Set<string>
}

/** A callback that the program has begun to send. */
export interface Attempted {
  readonly path: string
  readonly sequence: number
  readonly key: string
  readonly text: string
}

export interface Receivers {
  readonly all: ReadonlyArray<Receiver>
  readonly arrivals: ReadonlyArray<Arrival>
  /** The way to the hosts in one life of the program. */
  readonly network: (isAlive: () => boolean, attempted: (attempt: Attempted) => void) => typeof Network.Service
  readonly dns: Dns.Dns["Service"]
}

/** How long a connection without a request is kept. */
const keptMillis = HttpAnswer.assumedMillis

/** Nobody: there is no TLS below requests. */
const trust = createSecureContext()

const address = (text: string) => NetAddress.ipFromStringUnsafe(text) as NetAddress.Ipv4Address

export const make = (count: number, time: SimulatedTime, chance: Chance): Receivers => {
  const all = Array.from(
    { length: count },
    (_, i): Receiver => ({ host: `r${i}.example.com`, mood: "well", challenges: new Set() })
  )
  const arrivals: Array<Arrival> = []
  const find = (host: string) => all.find((receiver) => receiver.host === host)

  const publicAddress = (receiver: Receiver) => `8.8.4.${all.indexOf(receiver) + 1}`
  const addressesOf = (receiver: Receiver) => {
    if (receiver.mood === "private") return ["10.1.2.3"]
    return receiver.mood === "mixed" ? ["127.0.0.1", publicAddress(receiver)] : [publicAddress(receiver)]
  }

  const dns = Dns.make({
    lookup: (hostname) => Effect.fail(new Dns.DnsError({ reason: "NotFound", method: "lookup", hostname })),
    resolve: (name, recordType) =>
      Effect.callback((resume) => {
        const fail = (reason: Dns.DnsErrorReason) =>
          resume(Effect.fail(new Dns.DnsError({ reason, method: "resolve", hostname: name, recordType })))
        const answer = () => {
          if (recordType === "NS")
            return resume(Effect.succeed([Dns.makeRecordUnsafe("NS", { host: "a.root-servers.net" as never })]))
          const isChallenge = name.startsWith("_headwater-challenge.")
          const receiver = find(isChallenge ? name.slice("_headwater-challenge.".length) : name)
          if (receiver === undefined || receiver.mood === "unknown") return fail("NotFound")
          if (receiver.mood === "unresolved") return fail("Timeout")
          if (isChallenge && recordType === "TXT" && receiver.challenges.size > 0)
            return resume(
              Effect.succeed([...receiver.challenges].map((text) => Dns.makeRecordUnsafe("TXT", { chunks: [text] })))
            )
          if (recordType !== "A" || isChallenge) return fail("NotFound")
          resume(
            Effect.succeed(addressesOf(receiver).map((text) => Dns.makeRecordUnsafe("A", { address: address(text) })))
          )
        }
        const cancel = time.after(chance.next() * 20, answer)
        return Effect.sync(cancel)
      })
  })

  /** What a host does with a request that has reached it. */
  const lead = (
    receiver: Receiver,
    { end, request }: SimulatedHttp.Exchange,
    to: string,
    fresh: boolean,
    isAlive: () => boolean
  ) => {
    const arrival: Arrival = {
      at: time.now(),
      host: receiver.host,
      address: to,
      path: request.path,
      headers: request.headers,
      text: request.body,
      body: request.body === "" ? undefined : JSON.parse(request.body),
      status: undefined,
      answeredAt: undefined
    }
    const { mood } = receiver
    const reply = (status: number, millis: number, headers: Record<string, string> = {}) => {
      arrival.status = status
      time.after(millis, () => {
        if (isAlive()) arrival.answeredAt = time.now()
        end({ status, headers, body: "" })
      })
    }
    const fail = (code: string) => void time.after(1, () => end(SimulatedHttp.systemError(code)))
    if (mood === "hangingUp" && !fresh) return fail(HttpConnection.closedCode)
    arrivals.push(arrival)
    switch (mood) {
      case "silent":
        return
      case "late":
        // Nobody waits for the answer any more.
        return void time.after(9_000, () => end({ status: 200, body: "" }))
      case "losing":
        return fail("ECONNRESET")
      case "failing":
        return reply(chance.oneOf([400, 404, 500, 503]), 10)
      case "throttling":
        return reply(429, 5, { "retry-after": "2" })
      case "gone":
        return reply(410, 5)
      case "redirecting":
        return reply(302, 5, { location: "https://r0.example.com/" })
      case "flapping":
        return chance.happens(0.5) ? reply(500, 5) : reply(200, 5)
      case "slow":
        return reply(200, chance.between(300, 2_500))
      default:
        return reply(200, chance.next() * 40)
    }
  }

  const network: Receivers["network"] = (isAlive, attempted) => ({
    trust: () => trust,
    connections: ({ connect: { lookup } }) => {
      const made = new Map<string, number>()
      /** Connections that wait for a request, by origin, with the address that each is to. */
      const idle = new Map<string, Array<{ readonly to: string; readonly until: number }>>()
      const connect = (
        origin: string,
        receiver: Receiver,
        connected: (to: string) => void,
        failed: (error: Error) => void
      ) =>
        lookup(receiver.host, { all: true }, (error, addresses) => {
          if (!isAlive()) return
          if (error !== null) return failed(error)
          const [{ address: to }] = addresses as unknown as [{ address: string }]
          time.after(chance.next() * 10, () => {
            if (!isAlive()) return
            if (receiver.mood === "dead") return failed(SimulatedHttp.systemError("ECONNREFUSED"))
            made.set(origin, (made.get(origin) ?? 0) + 1)
            connected(to)
          })
        })
      const begin = (
        { body = "", headers, method, origin, path }: HttpConnections.Request,
        end: (ending: SimulatedHttp.Ending, isFirst: boolean) => void
      ) => {
        if (!isAlive()) return
        const sequence = headers["x-callback-sequence"]
        if (sequence !== undefined)
          attempted({ path, sequence: Number(sequence), key: JSON.parse(body).idempotencyKey, text: body })
        const receiver = find(new URL(origin).hostname)!
        const exchangeOn = (to: string, fresh: boolean) => {
          const ended = (ending: SimulatedHttp.Ending) => {
            if (!isAlive()) return
            if (ending instanceof Error) made.delete(origin)
            else idle.set(origin, [...(idle.get(origin) ?? []), { to, until: time.now() + keptMillis }])
            end(ending, fresh)
          }
          const request = { origin, path, method, headers, body }
          lead(receiver, { request, end: ended, isOver: () => false }, to, fresh, isAlive)
        }
        const kept = idle.get(origin)?.pop()
        if (kept !== undefined && kept.until > time.now() && receiver.mood !== "dead") exchangeOn(kept.to, false)
        else
          connect(
            origin,
            receiver,
            (to) => exchangeOn(to, true),
            (error) => end(error, true)
          )
      }
      return {
        send: (request, exchange) => {
          let over = false
          time.after(0, () => {
            if (over) return
            begin(request, (ending, isFirst) => {
              if (over || ending === undefined) return
              over = true
              if (ending instanceof Error) return exchange.failed(ending, isFirst)
              exchange.head({ status: ending.status, retryAfter: ending.headers?.["retry-after"], keptMillis })
              exchange.ended()
            })
          })
          return () => {
            over = true
          }
        },
        made: (origin) => made.get(origin) ?? 0,
        destroy: () => {}
      }
    },
    connect: ({ host, lookup }) => {
      const socket = new EventEmitter()
      const receiver = find(host!)
      const failed = (error: Error) => isAlive() && socket.emit("error", error)
      lookup!(host!, { all: true }, (error) => {
        if (error !== null) return void failed(error)
        time.after(5, () => {
          if (receiver?.mood === "dead") failed(SimulatedHttp.systemError("ECONNREFUSED"))
          else if (isAlive()) socket.emit("connect")
        })
      })
      return Object.assign(socket, { destroy: () => {} }) as unknown as Socket
    }
  })

  return { all, arrivals, network, dns }
}
