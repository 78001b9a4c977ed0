/**
 * The streams of callbacks on their way. A stream is one subscription's: it works off a lease, one callback after
 * another, then the follow-on that was taken meanwhile, until there is none, the time is over, or something stands
 * against the next callback. What is not sent is released.
 */
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
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
  /** How long the stream may go on, in milliseconds since the Unix epoch. */
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
  /** Runs where another follow-on may be taken. */
  readonly wakeup: () => void
}

/** In the surrounding scope. */
export const make = Effect.fnUntraced(function* (dependencies: Dependencies) {
  const { attempt, attemptMillis, hosts, outcomes, stopping, wakeup } = dependencies
  const target = yield* CallbackTarget
  const clock = yield* Clock.Clock
  const fibers = yield* FiberSet.make<void>()
  const streams = new Set<DeliveryStream>()

  const release = (callbacks: ReadonlyArray<OutboxMessage>) => {
    for (const callback of callbacks) outcomes.add({ kind: "released", callback })
  }

  /** Sends the lease's callbacks one after another; whether it sent all, and the next may follow. */
  const send = Effect.fnUntraced(function* (stream: DeliveryStream, url: URL) {
    const { lease } = stream
    const { callbacks, isCurrent, leasedUntil } = lease
    const headers = CallbackHeaders.ofLease(lease)
    for (const callback of callbacks) {
      const at = clock.currentTimeMillisUnsafe()
      if (stopping() || !isCurrent() || hosts.paused(lease, at) || at + attemptMillis > leasedUntil) return false
      const goesOn = yield* attempt(lease, callback, { url, headers: headers(callback, at), at })
      stream.sent++
      if (!goesOn) return false
    }
    return true
  })

  /** A URL that broke a rule which was made after the subscription. */
  const refuse = (stream: DeliveryStream, { message }: { readonly message: string }) =>
    Effect.sync(() => {
      const attempt = { at: clock.currentTimeMillisUnsafe(), duration: 0, error: message }
      const { callbacks, subscription } = stream.lease
      outcomes.add({ kind: "refused", callback: callbacks[0]!, attempt, subscription, reason: reasons.forbidden })
      stream.sent = 1
      return false
    })

  /** Works the lease off, and each follow-on that was taken meanwhile. */
  const workOff = Effect.fnUntraced(function* (stream: DeliveryStream) {
    while (true) {
      stream.over = !(yield* Effect.matchEffect(target.parse(stream.lease.url), {
        onSuccess: (url) => send(stream, url),
        onFailure: (error) => refuse(stream, error)
      }))
      const { followOn } = stream
      if (stream.over) release([...stream.lease.callbacks.slice(stream.sent), ...(followOn?.callbacks ?? [])])
      if (stream.over || followOn === undefined) {
        streams.delete(stream)
        return
      }
      stream.lease = followOn
      stream.sent = 0
      stream.followOn = undefined
      if (followOn.full) wakeup()
    }
  })

  const run = (stream: DeliveryStream) =>
    workOff(stream).pipe(
      Effect.catchCause((cause) => {
        stream.over = true
        return Effect.logError("A lease was not worked off", cause)
      }),
      Effect.ensuring(
        Effect.sync(() => {
          streams.delete(stream)
          hosts.ended(stream.lease)
          outcomes.notifyFlushed()
        })
      )
    )

  const start = (lease: Lease) => {
    const stream = { lease, sent: 0, followOn: undefined, over: false, until: lease.leasedUntil }
    streams.add(stream)
    hosts.began(lease)
    return FiberSet.run(fibers, run(stream))
  }

  return {
    /** Streams whose follow-ons may be taken at this moment. */
    followable: (now: number): ReadonlyArray<DeliveryStream> =>
      [...streams].filter(
        ({ followOn, lease, over, until }) =>
          lease.full && !over && followOn === undefined && now + attemptMillis < until
      ),
    /** Has leases worked off: those that follow in these streams there, the others in new ones. */
    add: Effect.fnUntraced(function* (leases: ReadonlyArray<Lease>, followed: ReadonlyArray<DeliveryStream>) {
      const bySubscription = new Map(followed.map((stream) => [stream.lease.subscription, stream]))
      for (const lease of leases) {
        const isFirst = lease.callbacks[0]!.attempts === 0
        const stream = isFirst ? bySubscription.get(lease.subscription) : undefined
        if (stream?.over) release(lease.callbacks)
        else if (stream !== undefined && streams.has(stream)) stream.followOn = lease
        else yield* start(lease)
      }
    }),
    /** Waits until nothing is on its way. */
    ended: FiberSet.awaitEmpty(fibers)
  }
})
