/**
 * The streams of callbacks on their way. A stream works off a lease of one subscription, one callback after another, until
 * something stands against the next callback; a follow-on that was taken meanwhile waits behind the leases of others. A
 * place whose stream has ended takes the next lease that waits. What is not sent is released.
 */
import type { Lease } from "@headwater/indexer/store/subscriptions/Lease"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import { CallbackTarget } from "../CallbackTarget.ts"
import type { OutcomeWriter } from "../OutcomeWriter.ts"
import type { ReceiverHosts } from "../ReceiverHosts.ts"
import { reasons } from "../RetryDecision.ts"
import * as CallbackHeaders from "./CallbackHeaders.ts"
import type { DeliveryAttempt } from "./DeliveryAttempt.ts"

export interface DeliveryStream {
  /** The lease that is worked off. */
  lease: Lease
  /** How many of the lease's callbacks have been sent. */
  sent: number
  /** The lease to follow, where it has been taken already. */
  followOn: Lease | undefined
  /** Nothing more is sent: what the stream has is released. */
  over: boolean
  /** How long leases may follow one another, in milliseconds since the Unix epoch. */
  readonly until: number
}

interface Dependencies {
  readonly attempt: DeliveryAttempt
  readonly hosts: ReceiverHosts
  readonly outcomes: OutcomeWriter
  /** What an attempt takes at most, until its outcome is written. */
  readonly attemptMillis: number
  /** Whether delivery ends, and sends nothing more. */
  readonly stopping: () => boolean
}

/** URLs that are kept as they were read: most callbacks go where others went. */
const kept = 8192

/** In the surrounding scope. */
export const make = Effect.fnUntraced(function* (dependencies: Dependencies) {
  const { attempt, attemptMillis, hosts, outcomes, stopping } = dependencies
  const target = yield* CallbackTarget
  const clock = yield* Clock.Clock
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const streams = new Set<DeliveryStream>()
  const headersOf = CallbackHeaders.make()
  const urls = new Map<string, URL>()
  /** How long leases may follow that have followed others. */
  const follows = new WeakMap<Lease, number>()

  const release = ({ callbacks, leasedUntil }: Lease, sent = 0) => {
    // What a lease that has ended was of may be leased by another sender since, as after this process stood still.
    if (leasedUntil <= clock.currentTimeMillisUnsafe()) return
    for (const callback of callbacks.slice(sent)) outcomes.add({ kind: "released", callback })
  }

  /** The URL of a lease; none of one that broke a rule which was made after the subscription. */
  const read = (stream: DeliveryStream) =>
    Effect.match(target.parse(stream.lease.url), {
      onSuccess: (url) => {
        if (urls.size >= kept) urls.delete(urls.keys().next().value!)
        urls.set(stream.lease.url, url)
        return url
      },
      onFailure: ({ message }) => {
        const attempt = { at: clock.currentTimeMillisUnsafe(), duration: 0, error: message }
        const { callbacks, subscription } = stream.lease
        outcomes.add({ kind: "refused", callback: callbacks[0]!, attempt, subscription, reason: reasons.forbidden })
        stream.sent = 1
        stream.over = true
        return undefined
      }
    })

  /** Sends the lease's callbacks one after another, and releases what it does not send. */
  const workOff = Effect.fnUntraced(function* (stream: DeliveryStream) {
    const { lease } = stream
    const { callbacks, isCurrent, leasedUntil } = lease
    const url = urls.get(lease.url) ?? (yield* read(stream))
    const headers = headersOf(lease)
    while (url !== undefined && !stream.over && stream.sent < callbacks.length) {
      const callback = callbacks[stream.sent]!
      const at = clock.currentTimeMillisUnsafe()
      if (stopping() || !isCurrent() || hosts.paused(lease, at) || at + attemptMillis > leasedUntil) stream.over = true
      else {
        stream.over = !(yield* attempt(lease, callback, { url, headers: headers(callback, at), at }))
        stream.sent++
      }
    }
    const { followOn, over, until } = stream
    if (over) {
      release(lease, stream.sent)
      if (followOn !== undefined) release(followOn)
    } else if (followOn !== undefined) {
      follows.set(followOn, until)
      hosts.wait(followOn)
    }
  })

  const ended = (stream: DeliveryStream) => {
    const { lease, over } = stream
    streams.delete(stream)
    hosts.ended(lease)
    if (hosts.isLow(lease.host)) outcomes.notifyFlushed()
    if (over) withdraw()
  }

  /** The waiting lease that may begin now. */
  const next = () => (stopping() ? undefined : hosts.next(clock.currentTimeMillisUnsafe()))

  /** Works off one lease after another, until none may begin. */
  const place = Effect.fnUntraced(function* (first: Lease) {
    for (let lease: Lease | undefined = first; lease !== undefined; ) {
      const until = follows.get(lease) ?? lease.leasedUntil
      const stream: DeliveryStream = { lease, sent: 0, followOn: undefined, over: false, until }
      streams.add(stream)
      yield* Effect.catchCause(workOff(stream), (cause) => {
        stream.over = true
        return Effect.logError("A lease was not worked off", cause)
      })
      ended(stream)
      lease = next()
      // There may be more to begin than what has ended.
      if (lease !== undefined) begin()
    }
  })

  const begin = () => {
    for (let lease = next(); lease !== undefined; lease = next()) fork(place(lease))
  }

  const withdraw = () => {
    const now = clock.currentTimeMillisUnsafe()
    const until = stopping() ? Number.POSITIVE_INFINITY : now + attemptMillis
    for (const lease of hosts.withdrawn(until, now)) release(lease)
  }

  return {
    /** Streams whose follow-ons may be taken at this moment. */
    followable: (now: number): ReadonlyArray<DeliveryStream> =>
      [...streams].filter(
        ({ followOn, lease, over, until }) =>
          lease.full && !over && followOn === undefined && now + attemptMillis < until
      ),
    /** Has leases worked off: those that follow in these streams behind them, the others as there are places. */
    add: (leases: ReadonlyArray<Lease>, followed: ReadonlyArray<DeliveryStream>) => {
      const bySubscription = new Map(followed.map((stream) => [stream.lease.subscription, stream]))
      for (const lease of leases) {
        const isFirst = lease.callbacks[0]!.attempts === 0
        const stream = isFirst ? bySubscription.get(lease.subscription) : undefined
        if (stream?.over) release(lease)
        else if (stream !== undefined && streams.has(stream)) stream.followOn = lease
        else hosts.wait(lease)
      }
      begin()
    },
    /** Releases what waits and cannot be sent any more. */
    withdraw,
    /** Releases what waits, and waits until nothing is on its way. */
    ended: Effect.andThen(Effect.sync(withdraw), FiberSet.awaitEmpty(fibers))
  }
})
