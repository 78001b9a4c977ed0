/**
 * Sends callbacks until their receivers accept them or the attempts run out.
 *
 * What is to be sent and what came of it are rows of the outbox; a fiber carries only the claim that it works off. One
 * poller claims as much as there is room for; the fibers send one callback after another; outcomes are written in
 * batches. What follows a claim is claimed while it is sent. When the scope ends, attempts in flight finish, and their
 * outcomes are written.
 */
import { createHmac, createSecretKey } from "node:crypto"
import * as Signature from "@headwater/core/events/Signature"
import { type Attempt, type Claim, Outbox, type Outgoing } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { CallbackTarget } from "./CallbackTarget.ts"
import * as DeliveryMetrics from "./DeliveryMetrics.ts"
import * as DeliveryTrace from "./DeliveryTrace.ts"
import * as Outcomes from "./Outcomes.ts"
import { ReceiverClient, ReceiverClientOptions } from "./ReceiverClient.ts"
import * as ReceiverHosts from "./ReceiverHosts.ts"
import * as RetryProfile from "./RetryProfile.ts"

export const DeliveryOptions = Context.Reference("@headwater/daemon/delivery/Delivery/Options", {
  defaultValue: () => ({
    profile: RetryProfile.hosted as RetryProfile.RetryProfile,
    /** Claims in flight over all hosts, and to one. */
    concurrency: 256,
    perHost: 32,
    /** Callbacks in one claim. */
    run: 128,
    /** Attempts without an answer, one after another, until a host is left alone; for how long at first and at most. */
    failures: 5,
    pauseMillis: 5000,
    maxPauseMillis: 60_000,
    /** How often the outbox is looked at: at least when something was found, and at most. */
    busyMillis: 50,
    idleMillis: 500,
    /** How long at least after something was found: claims of many cost little more than claims of one. */
    gapMillis: 10,
    /** How long nothing is claimed after the store has failed. */
    failureMillis: 2000,
    /** When outcomes are written. */
    batch: 256,
    batchMillis: 10,
    /** How often old callbacks are looked for. */
    sweepMillis: 3_600_000
  })
})

/** Reasons of deactivation, as the account reads them. */
export const reasons = {
  exhausted: "maximum_retry_attempts_reached",
  gone: "receiver_gone",
  /** The URL broke a rule of the operator's that was made after the subscription. */
  forbidden: "callback_url_not_allowed"
} as const

/** How long it may take until an outcome is written. */
const writingMillis = 2000

const gone = 410
const throttled = new Set([429, 503])

const nodeMac: Signature.Mac = (bytes) => {
  const key = createSecretKey(bytes)
  return (text, encoding) => createHmac("sha256", key).update(text).digest(encoding)
}

/** A subscription's callbacks on their way, one claim after another. */
interface Lane {
  claim: Claim
  /** How many of the claim's callbacks have been sent. */
  sent: number
  /** What follows the claim, where it has been claimed already. */
  next: Claim | undefined
  /** Nothing more is sent in this lane: what it holds is given back. */
  over: boolean
  /** How long it may go on, in milliseconds since the Unix epoch. */
  readonly until: number
}

type Headers = (callback: Outgoing, now: number) => Record<string, string>

/** The headers of a claim's callbacks. */
const headersOf = ({ secrets }: Claim): Headers => {
  const sign = Arr.isReadonlyArrayNonEmpty(secrets) ? Signature.signer(secrets, nodeMac) : undefined
  return ({ body, idempotencyKey: id, sequence }, now) => ({
    "content-type": "application/json",
    "user-agent": "Headwater",
    "x-callback-sequence": String(sequence),
    ...sign?.({ id, timestamp: Math.floor(now / 1000), body })
  })
}

/** Runs delivery in the layer's scope. */
export const layer: Layer.Layer<never, never, Outbox | ReceiverClient | CallbackTarget> = Layer.effectDiscard(
  Effect.suspend(() => run)
)

const run = Effect.gen(function* () {
  const outbox = yield* Outbox
  const client = yield* ReceiverClient
  const target = yield* CallbackTarget
  const options = yield* DeliveryOptions
  const { timeoutMillis } = yield* ReceiverClientOptions
  // Time for an attempt to be begun late in the lease, and to be written down.
  const leaseMillis = 2 * timeoutMillis + writingMillis
  const hosts = ReceiverHosts.make(options)
  const metrics = yield* DeliveryMetrics.make
  const traced = yield* DeliveryTrace.make
  const clock = yield* Clock.Clock
  const news = yield* Latch.make()
  let stopping = false

  const outcomes = yield* Outcomes.make({
    batch: options.batch,
    millis: options.batchMillis,
    told: Effect.asVoid(news.open)
  })

  /** What follows from an attempt that was not accepted; whether the claim's next callback may be sent. */
  const notAccepted = Effect.fnUntraced(function* (
    claim: Claim,
    callback: Outgoing,
    attempt: Attempt,
    retryAfter: number | undefined
  ) {
    const named = Effect.annotateLogs("callback", callback.idempotencyKey)
    yield* named(Effect.logDebug(`A callback to ${claim.host} was not accepted: ${attempt.error}`))
    const { status } = attempt
    const asked = status !== undefined && throttled.has(status) ? retryAfter : undefined
    const delay = status === gone ? undefined : yield* RetryProfile.delay(options.profile, callback.attempts + 1, asked)
    if (delay !== undefined) {
      outcomes.add({ kind: "retry", callback, attempt, due: attempt.at + attempt.duration + delay })
      metrics.failed()
      return true
    }
    const reason = status === gone ? reasons.gone : reasons.exhausted
    yield* named(Effect.logWarning(`A subscription to ${claim.host} is deactivated: ${reason}`))
    outcomes.add({ kind: "refused", callback, attempt, subscription: claim.subscription, reason })
    metrics.refused()
    return false
  })

  /** Sends the claim's callbacks one after another, as long as there is time and nothing stands against it: whether so. */
  const send = Effect.fnUntraced(function* (lane: Lane, url: URL) {
    const { claim } = lane
    const headers = headersOf(claim)
    const { callbacks, host, leasedUntil } = claim
    for (const callback of callbacks) {
      const at = clock.currentTimeMillisUnsafe()
      if (stopping || hosts.paused(host, at) || at + timeoutMillis + writingMillis > leasedUntil) return false
      const reply = yield* Effect.result(
        traced(
          claim,
          callback,
          client.request({ method: "POST", url, headers: headers(callback, at), body: callback.body })
        )
      )
      const now = clock.currentTimeMillisUnsafe()
      const timed = { at, duration: now - at }
      lane.sent++
      hosts.attempted(host, { answered: Result.isSuccess(reply), at, now })
      if (Result.isFailure(reply)) {
        if (yield* notAccepted(claim, callback, { ...timed, error: reply.failure.reason }, undefined)) continue
        return false
      }
      const { retryAfter, status } = reply.success
      if (status >= 200 && status < 300) {
        outcomes.add({ kind: "delivered", callback, attempt: { ...timed, status } })
        metrics.delivered(now - callback.created)
      } else if (
        !(yield* notAccepted(claim, callback, { ...timed, status, error: `answered ${status}` }, retryAfter))
      ) {
        return false
      }
    }
    return true
  })

  /** A URL that broke a rule which was made after the subscription. */
  const refuse = (lane: Lane, { message }: { readonly message: string }) =>
    Effect.sync(() => {
      const attempt = { at: clock.currentTimeMillisUnsafe(), duration: 0, error: message }
      const { callbacks, subscription } = lane.claim
      outcomes.add({ kind: "refused", callback: callbacks[0]!, attempt, subscription, reason: reasons.forbidden })
      lane.sent = 1
      return false
    })

  const giveBack = (callbacks: ReadonlyArray<Outgoing>) => {
    for (const callback of callbacks) outcomes.add({ kind: "unsent", callback })
  }

  const lanes = new Set<Lane>()

  /** Works claims off; leaves what there is no time for, or what should wait, to later ones. */
  const work = (lane: Lane) =>
    Effect.gen(function* () {
      while (true) {
        lane.over = !(yield* Effect.matchEffect(target.parse(lane.claim.url), {
          onSuccess: (url) => send(lane, url),
          onFailure: (error) => refuse(lane, error)
        }))
        const { next } = lane
        if (lane.over) giveBack([...lane.claim.callbacks.slice(lane.sent), ...(next?.callbacks ?? [])])
        if (lane.over || next === undefined) {
          lanes.delete(lane)
          return
        }
        lane.claim = next
        lane.sent = 0
        lane.next = undefined
        if (next.full) news.openUnsafe()
      }
    }).pipe(
      Effect.catchCause((cause) => {
        lane.over = true
        return Effect.logError("A claim was not worked off", cause)
      }),
      Effect.ensuring(
        Effect.sync(() => {
          lanes.delete(lane)
          hosts.ended(lane.claim)
          outcomes.tell()
        })
      )
    )

  /** Lanes whose next callbacks can be claimed. */
  const followed = (now: number) =>
    [...lanes].filter(
      ({ claim, next, over, until }) =>
        claim.full && !over && next === undefined && now + timeoutMillis + writingMillis < until
    )

  const fibers = yield* FiberSet.make<void>()

  /** Claims what there is room for; whether there was anything. */
  const poll = Effect.gen(function* () {
    if (hosts.inFlight() >= options.concurrency) return true
    const now = yield* Clock.currentTimeMillis
    const waiting = followed(now)
    const rooms = hosts.rooms(
      yield* outbox.hosts,
      now,
      waiting.map(({ claim }) => claim)
    )
    if (rooms.length === 0) return false
    const claims = yield* outbox.claim(rooms, leaseMillis)
    const continued = new Map(waiting.map((lane) => [lane.claim.subscription, lane]))
    for (const claim of claims) {
      const [first] = claim.callbacks
      metrics.waited(now - first!.created)
      const lane = first!.attempts === 0 ? continued.get(claim.subscription) : undefined
      if (lane?.over) {
        giveBack(claim.callbacks)
      } else if (lane !== undefined && lanes.has(lane)) {
        lane.next = claim
      } else {
        const started = { claim, sent: 0, next: undefined, over: false, until: claim.leasedUntil }
        lanes.add(started)
        hosts.began(claim)
        yield* FiberSet.run(fibers, work(started))
      }
    }
    return claims.length > 0
  })

  const poller = Effect.gen(function* () {
    let millis = options.idleMillis
    while (true) {
      yield* news.close
      const woken = yield* outbox.nextWake
      const busy = yield* Effect.uninterruptible(poll).pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning("Callbacks could not be claimed", cause).pipe(
            Effect.andThen(Effect.sleep(options.failureMillis)),
            Effect.as(false)
          )
        )
      )
      millis = busy ? options.busyMillis : Math.min(millis * 2, options.idleMillis)
      if (busy) yield* Effect.sleep(options.gapMillis)
      yield* Effect.raceFirst(woken, news.await).pipe(Effect.timeoutOption(millis))
    }
  })

  const sweeper = Effect.gen(function* () {
    const pruned = yield* outbox.prune
    const expired = yield* outbox.expire
    if (pruned + expired > 0)
      yield* Effect.logInfo(`Forgot ${pruned} callbacks, gave up ${expired} that waited too long`)
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("Old callbacks could not be removed", cause)),
    Effect.andThen(Effect.sleep(options.sweepMillis)),
    Effect.forever
  )

  yield* Effect.retry(outbox.endLeases, Schedule.spaced("1 second")).pipe(Effect.orDie)
  // What follows ends in the opposite order.
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(fibers).pipe(Effect.andThen(outcomes.flush)))
  yield* Effect.forkScoped(outcomes.writer)
  yield* Effect.addFinalizer(() => Effect.sync(() => (stopping = true)))
  yield* Effect.forkScoped(poller)
  yield* Effect.forkScoped(sweeper)
})
