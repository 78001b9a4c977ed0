/**
 * Delivery under the test's clock, over receivers that are heard of or not: what an outage of our own costs, and what dead
 * hosts of one account do.
 */
import { assert, describe, it } from "@effect/vitest"
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { type Fault, NoReply, ReceiverClient } from "@headwater/daemon/delivery/ReceiverClient"
import { type Lack, OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Dns from "effect/net/Dns"
import * as TestClock from "effect/testing/TestClock"

/** A callback that is sent until its receiver accepts, to a host of its own, as often as `repeated` says. */
interface Stream {
  readonly account: number
  readonly host: string
  attempts: number
  due: number
  leased: boolean
  delivered: number
  deactivated: string | undefined
  readonly repeated: number
}

const streamOf = (account: number, host: string, repeated = 1): Stream => ({
  ...{ account, host, repeated, attempts: 0, due: 0, leased: false, delivered: 0, deactivated: undefined }
})

const isOpen = ({ deactivated, delivered, repeated }: Stream) => deactivated === undefined && delivered < repeated

/** As where one process has the store. */
const tasks = Layer.mock(RecurringTasks, { whenDue: (_, everyMillis, work) => Effect.as(work, everyMillis) })

/** An outbox in memory: one subscription with one callback at a time for each stream. */
const outboxOf = (
  streams: ReadonlyArray<Stream>,
  receivers: ReadonlyArray<string>,
  newestBlock: Effect.Effect<number | undefined>
) =>
  Layer.succeed(Outbox, {
    undone: Effect.void,
    nextWakeup: Effect.succeed(Effect.never),
    handedOver: Effect.undefined,
    receivers: Effect.succeed(receivers),
    newestBlock,
    hosts: Effect.map(Clock.currentTimeMillis, (now) =>
      streams.filter((stream) => isOpen(stream) && !stream.leased && stream.due <= now)
    ),
    lease: (capacities, leaseMillis) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        capacities.flatMap(({ host, limit }): ReadonlyArray<Lease> => {
          const i = streams.findIndex((stream) => stream.host === host)
          const stream = streams[i]!
          if (limit === 0 || stream.leased || stream.due > now) return []
          stream.leased = true
          const callback: OutboxMessage = {
            ...{ account: 1, subscription: 1, host: "a.test" },
            ...{ id: i, idempotencyKey: "k", sequence: 1, body: "{}", attempts: stream.attempts, attemptLog: "[]" },
            created: 0
          }
          return [
            {
              ...{ account: stream.account, subscription: i, host, url: `https://${host}/`, secrets: [] },
              ...{
                callbacks: [callback],
                full: false,
                failing: false,
                leasedUntil: now + leaseMillis,
                isCurrent: () => true
              }
            }
          ]
        })
      ),
    acknowledge: (outcomes) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (const outcome of outcomes) {
          const stream = streams[outcome.callback.id]!
          stream.leased = false
          if (outcome.kind === "retry") {
            stream.attempts++
            stream.due = outcome.due
          } else if (outcome.kind === "refused") stream.deactivated = outcome.reason
          else if (outcome.kind === "delivered") {
            stream.delivered++
            stream.attempts = 0
            stream.due = now + 10_000
          }
        }
      }),
    endLeases: Effect.void,
    prune: Effect.succeed(0),
    expire: Effect.succeed(0),
    endParking: Effect.succeed(0),
    hasten: () => Effect.succeed(0),
    recover: Effect.succeed(false),
    leaseCopy: () => Effect.undefined,
    advanceCopy: () => Effect.void
  })

interface World {
  /** How the request to a host ends; undefined where the host accepts. */
  faultOf: (host: string) => Fault | undefined
  /** How long a request takes. */
  takes: number
  /** What the error says. */
  reason: string
  nameServer: Dns.DnsErrorReason | undefined
  /** Its time, in milliseconds since the Unix epoch. */
  newestBlock: number | undefined
  readonly lines: Array<string>
  requests: number
}

/** Runs delivery over these streams, with `use` in the same scope. */
const delivering = <E>(
  streams: ReadonlyArray<Stream>,
  use: (world: World, lacks: Effect.Effect<ReadonlyArray<Lack>>) => Effect.Effect<void, E>,
  options: { readonly allowed?: ReadonlyArray<string>; readonly receivers?: ReadonlyArray<string> } = {}
) => {
  const world: World = {
    faultOf: () => undefined,
    takes: 10,
    reason: "connect EHOSTUNREACH",
    nameServer: undefined,
    newestBlock: undefined,
    lines: [],
    requests: 0
  }
  const client = Layer.succeed(ReceiverClient, {
    request: ({ url }) =>
      Effect.andThen(
        Effect.suspend(() => Effect.sleep(world.takes)),
        Effect.suspend(() => {
          world.requests++
          const fault = world.faultOf(url.hostname)
          return fault === undefined
            ? Effect.succeed({ status: 200, retryAfter: undefined, text: "" })
            : Effect.fail(new NoReply({ reason: world.reason, fault }))
        })
      ),
    reaches: ({ hostname }) => Effect.sync(() => [undefined, "receiver"].includes(world.faultOf(hostname))),
    isCertified: ({ hostname }) => Effect.sync(() => world.faultOf(hostname) === undefined),
    looksUp: (host) => world.faultOf(host) === "unresolved"
  })
  const dns = Dns.make({
    lookup: () => Effect.never,
    resolve: (hostname) =>
      Effect.suspend(() =>
        world.nameServer === undefined
          ? Effect.succeed([])
          : Effect.fail(new Dns.DnsError({ reason: world.nameServer, method: "resolve", hostname }))
      )
  })
  const layer = Delivery.layer.pipe(
    Layer.provide([
      outboxOf(
        streams,
        options.receivers ?? [],
        Effect.sync(() => world.newestBlock)
      ),
      client,
      tasks
    ]),
    Layer.provide(CallbackTarget.layer),
    Layer.provide(Layer.succeed(Dns.Dns, dns)),
    Layer.provide(Layer.succeed(AllowedHosts, new Set(options.allowed ?? []))),
    Layer.provide(
      Layer.effect(
        Delivery.DeliveryOptions,
        Effect.map(Delivery.DeliveryOptions, (options) => ({ ...options, profile }))
      )
    ),
    Layer.provideMerge(OwnOutages.layer),
    Layer.provideMerge(Logger.layer([Logger.map(Logger.formatSimple, (line) => void world.lines.push(line))]))
  )
  return Effect.gen(function* () {
    const lacks = Effect.map((yield* OwnOutages).lasting, (outages) => outages.map(({ lack }) => lack))
    yield* use(world, lacks)
  }).pipe(Effect.provide(layer), Effect.scoped)
}

/** A profile whose retries are over after 31 seconds, so that the clock has few looks at the outbox to pass. */
const profile = { delays: [1, 2, 4, 8, 16].map((seconds) => 1000 * seconds), jitter: 0.2 }
const seconds = 120
const longerThanAllRetries = `${seconds} seconds` as const
/** Callbacks that a host accepts meanwhile, at least: one every ten seconds is due. */
const meanwhile = seconds / 10 - 3
const accounts = [1, 2, 3].map((account) => streamOf(account, `host${account}.example`, 100_000))
const day = 86_400_000
const exhausted = "maximum_retry_attempts_reached"

describe("an outage of our own", () => {
  for (const [fault, lack, reason] of [
    ["unreached", "network", "connect ENETUNREACH 192.0.2.1:443"],
    ["unreached", "network", "no answer within 5000 ms"],
    ["unresolved", "resolver", "host1.example cannot be resolved: Timeout"]
  ] as const) {
    it.effect(`takes no attempt from any receiver, and is said once: ${reason}`, () => {
      const streams = accounts.map((stream) => ({ ...stream }))
      return delivering(streams, (world, lacks) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("30 seconds")
          assert.deepStrictEqual(yield* lacks, [])
          const before = streams.map(({ delivered }) => delivered)
          assert.isTrue(before.every((delivered) => delivered > 0))
          world.faultOf = () => fault
          world.reason = reason
          yield* TestClock.adjust("10 seconds")
          assert.deepStrictEqual(yield* lacks, [lack])
          const { requests } = world
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(
            streams.map(({ attempts, deactivated }) => [attempts, deactivated]),
            streams.map(() => [0, undefined])
          )
          assert.isBelow(world.requests - requests, 4 * (seconds + 2), "only few are tried")
          assert.lengthOf(
            world.lines.filter((line) => line.includes("has begun")),
            1
          )
          assert.include(world.lines.find((line) => line.includes("has begun"))!, reason)

          world.faultOf = () => undefined
          yield* TestClock.adjust("15 seconds")
          assert.deepStrictEqual(yield* lacks, [])
          assert.isTrue(streams.every(({ delivered }, i) => delivered > before[i]!))
          assert.lengthOf(
            world.lines.filter((line) => line.includes("is over")),
            1
          )
        })
      )
    })
  }

  for (const [fault, lack] of [
    ["silent", "network"],
    ["unresolved", "resolver"]
  ] as const) {
    it.effect(`is said long before attempts end that wait for an answer: ${lack}`, () =>
      delivering(
        accounts.map((stream) => ({ ...stream })),
        (world, lacks) =>
          Effect.gen(function* () {
            yield* TestClock.adjust("30 seconds")
            world.takes = 60_000
            // Slow receivers that are there are no outage.
            yield* TestClock.adjust("30 seconds")
            assert.deepStrictEqual(yield* lacks, [])
            world.faultOf = () => fault
            yield* TestClock.adjust("8 seconds")
            assert.deepStrictEqual(yield* lacks, [lack])
            world.faultOf = () => undefined
            yield* TestClock.adjust("3 seconds")
            assert.deepStrictEqual(yield* lacks, [])
            // The end of delivery waits for what is under way.
            world.takes = 10
            yield* TestClock.adjust("1 minute")
          })
      )
    )
  }

  it.effect("takes no attempt that the outage was a part of, also where another host is heard of as that ends", () => {
    const streams = accounts.map((stream) => ({ ...stream }))
    return delivering(streams, (world, lacks) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("30 seconds")
        world.takes = 60_000
        world.faultOf = () => "silent"
        yield* TestClock.adjust("20 seconds")
        const during = yield* lacks
        world.faultOf = (host) => (host === "host2.example" ? "silent" : undefined)
        yield* TestClock.adjust("3 seconds")
        const behind = yield* lacks
        const { requests } = world
        yield* TestClock.adjust("45 seconds")
        const ended = world.requests - requests
        const { attempts, deactivated } = streams[1]!
        // The end of delivery waits for what is under way.
        world.faultOf = () => undefined
        world.takes = 10
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([during, behind], [["network"], []])
        assert.isAbove(ended, 0)
        assert.deepStrictEqual([attempts, deactivated], [0, undefined])
      })
    )
  })

  for (const [fault, wrong, reason] of [
    ["expired", -2 * day, "CERT_HAS_EXPIRED: certificate has expired"],
    ["early", day, "CERT_NOT_YET_VALID: certificate is not yet valid"]
  ] as const) {
    it.effect(`of the clock takes no attempt from a receiver whose certificate is judged by it: ${reason}`, () => {
      const streams = [streamOf(1, "only.example", 100_000)]
      return delivering(streams, (world, lacks) =>
        Effect.gen(function* () {
          world.newestBlock = wrong
          world.faultOf = () => fault
          world.reason = reason
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(yield* lacks, ["clock"])
          assert.deepInclude(streams[0], { attempts: 0, delivered: 0, deactivated: undefined })
          const said = world.lines.filter((line) => line.includes("has begun"))
          assert.lengthOf(said, 1)
          assert.include(said[0]!, `only.example: ${reason}; the newest block is of ${new Date(wrong).toISOString()}`)

          world.faultOf = () => undefined
          yield* TestClock.adjust("20 seconds")
          assert.deepStrictEqual(yield* lacks, [])
          assert.isAbove(streams[0]!.delivered, 0)
        })
      )
    })

    for (const newestBlock of [undefined, 0]) {
      it.effect(
        `is none where ${newestBlock === undefined ? "no block" : "a block of the same time"} speaks against the clock: ${reason}`,
        () => {
          const streams = [streamOf(1, "only.example")]
          return delivering(streams, (world, lacks) =>
            Effect.gen(function* () {
              world.newestBlock = newestBlock
              world.faultOf = () => fault
              world.reason = reason
              yield* TestClock.adjust(longerThanAllRetries)
              assert.deepStrictEqual(yield* lacks, [])
              assert.deepInclude(streams[0], { deactivated: exhausted })
            })
          )
        }
      )
    }
  }

  it.effect("is none where blocks are old and another account's host has a valid certificate", () => {
    const streams = Array.from({ length: 20 }, (_, i) => streamOf(1, `lapsed${i}.example`))
    return delivering(
      streams,
      (world, lacks) =>
        Effect.gen(function* () {
          world.newestBlock = -400 * day
          world.faultOf = (host) => (host === "quiet.example" ? undefined : "expired")
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(yield* lacks, [])
          assert.deepStrictEqual(new Set(streams.map(({ deactivated }) => deactivated)), new Set([exhausted]))
          assert.notInclude(world.lines.join("\n"), "outage")
        }),
      { receivers: ["https://quiet.example/hook"] }
    )
  })

  it.effect("is the clock's where blocks are old and no host of anybody has a valid certificate", () => {
    const streams = accounts.map((stream) => ({ ...stream }))
    return delivering(streams, (world, lacks) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("30 seconds")
        world.newestBlock = -400 * day
        world.faultOf = () => "expired"
        yield* TestClock.adjust(longerThanAllRetries)
        assert.deepStrictEqual(yield* lacks, ["clock"])
        for (const stream of streams) assert.deepInclude(stream, { attempts: 0, deactivated: undefined })
      })
    )
  })

  it.effect("is noticed before anything was ever heard of a host, by a name server that does not answer", () => {
    const streams = [streamOf(1, "only.example")]
    return delivering(streams, (world, lacks) =>
      Effect.gen(function* () {
        world.faultOf = () => "unresolved"
        world.nameServer = "Refused"
        yield* TestClock.adjust(longerThanAllRetries)
        assert.deepStrictEqual(yield* lacks, ["resolver"])
        assert.deepInclude(streams[0], { attempts: 0, deactivated: undefined })
        // The name server is back, and the host is not: the rest is the host's.
        world.nameServer = undefined
        yield* TestClock.adjust(longerThanAllRetries)
        assert.deepStrictEqual(yield* lacks, [])
        assert.deepInclude(streams[0], { deactivated: exhausted })
      })
    )
  })

  it.effect("is not taken for one by hosts that are allowed by name, and the other way round", () => {
    const streams = [streamOf(1, "lan.internal", 100_000), ...accounts.map((stream) => ({ ...stream }))]
    return delivering(
      streams,
      (world, lacks) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("30 seconds")
          world.faultOf = (host) => (host === "lan.internal" ? undefined : "unreached")
          const [lan] = streams
          const before = lan!.delivered
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(yield* lacks, ["network"])
          assert.isTrue(streams.every(({ attempts, deactivated }) => attempts === 0 && deactivated === undefined))
          // As often as without an outage: every ten seconds.
          assert.isAbove(lan!.delivered - before, meanwhile)
        }),
      { allowed: ["lan.internal"], receivers: ["https://lan.internal", "https://host1.example"] }
    )
  })

  for (const fault of ["descriptors", "memory"] as const) {
    it.effect(`takes no attempt where ${fault} lack, and sends to who can be reached meanwhile`, () => {
      const streams = accounts.map((stream) => ({ ...stream }))
      return delivering(streams, (world, lacks) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("30 seconds")
          world.faultOf = (host) => (host === "host1.example" ? fault : undefined)
          const before = streams.map(({ delivered }) => delivered)
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(yield* lacks, [fault])
          assert.deepInclude(streams[0], { attempts: 0, deactivated: undefined, delivered: before[0]! })
          for (const i of [1, 2]) assert.isAbove(streams[i]!.delivered - before[i]!, meanwhile)
          assert.lengthOf(
            world.lines.filter((line) => line.includes("has begun")),
            1
          )
          world.faultOf = () => undefined
          yield* TestClock.adjust("20 seconds")
          assert.deepStrictEqual(yield* lacks, [])
          assert.isAbove(streams[0]!.delivered, before[0]!)
        })
      )
    })
  }
})

describe("dead hosts of one account", () => {
  const dead = Array.from({ length: 40 }, (_, i) => streamOf(1, `dead${i}.example`))

  it.effect("are deactivated while hosts of others live, however many they are", () => {
    const streams = [...dead.map((stream) => ({ ...stream })), streamOf(2, "well.example", 100_000)]
    return delivering(streams, (world, lacks) =>
      Effect.gen(function* () {
        world.faultOf = (host) => (host === "well.example" ? undefined : "unreached")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* lacks, [])
        yield* TestClock.adjust(longerThanAllRetries)
        assert.deepStrictEqual(
          new Set(streams.slice(0, -1).map(({ deactivated }) => deactivated)),
          new Set([exhausted])
        )
        assert.isAbove(streams.at(-1)!.delivered, meanwhile)
        assert.notInclude(world.lines.join("\n"), "outage")
      })
    )
  })

  it.effect("make no outage after hosts of theirs that lived, where others have nothing to be sent", () => {
    const streams = dead.map((stream) => ({ ...stream, repeated: 2 }))
    return delivering(
      streams,
      (world, lacks) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("5 seconds")
          assert.isTrue(streams.every(({ delivered }) => delivered === 1))
          world.faultOf = (host) => (host === "quiet.example" ? undefined : "unreached")
          yield* TestClock.adjust(longerThanAllRetries)
          assert.deepStrictEqual(new Set(streams.map(({ deactivated }) => deactivated)), new Set([exhausted]))
          assert.deepStrictEqual(yield* lacks, [])
        }),
      { receivers: ["https://quiet.example/hook"] }
    )
  })

  it.effect("are told by a refused connection, a name without addresses and an answer, whoever is heard of", () => {
    const streams = [streamOf(1, "refuses.example"), streamOf(1, "nameless.example")]
    return delivering(streams, (world, lacks) =>
      Effect.gen(function* () {
        world.nameServer = "Refused"
        world.faultOf = (host) => (host === "refuses.example" ? "receiver" : "name")
        yield* TestClock.adjust(longerThanAllRetries)
        assert.deepStrictEqual(
          streams.map(({ deactivated }) => deactivated),
          [exhausted, exhausted]
        )
        assert.deepStrictEqual(yield* lacks, [])
      })
    )
  })
})
