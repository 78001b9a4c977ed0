/**
 * Sends callbacks until their receivers accept them or the attempts run out.
 *
 * What is to be sent and what came of it are rows of the outbox; a fiber carries only the claim that it works off. One
 * poller claims as much as there is room for; the fibers send one callback after another; outcomes are written in
 * batches. When the scope ends, attempts in flight finish, and their outcomes are written.
 */
import * as Signature from "@headwater/core/Signature"
import { type Attempt, type Claim, Outbox, type Outgoing } from "@headwater/indexer/store/Outbox"
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
    run: 64,
    /** Attempts without an answer, one after another, until a host is left alone; for how long at first and at most. */
    failures: 5,
    pauseMillis: 5000,
    maxPauseMillis: 60_000,
    /** How often the outbox is looked at: at least when something was found, and at most. */
    busyMillis: 50,
    idleMillis: 500,
    /** How long nothing is claimed after the store has failed. */
    failureMillis: 2000,
    /** When outcomes are written. */
    batch: 256,
    batchMillis: 4,
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

const gone = 410
const throttled = new Set([429, 503])

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
  const leaseMillis = 3 * timeoutMillis
  const hosts = ReceiverHosts.make({ ...options, leaseMillis })
  const metrics = yield* DeliveryMetrics.make
  const work = yield* Latch.make()
  let stopping = false

  const outcomes = yield* Outcomes.make({
    batch: options.batch,
    millis: options.batchMillis,
    written: Effect.asVoid(work.open)
  })

  const headersOf = (claim: Claim, callback: Outgoing, now: number): Record<string, string> => ({
    "content-type": "application/json",
    "user-agent": "Headwater",
    "x-callback-sequence": String(callback.sequence),
    ...(Arr.isReadonlyArrayNonEmpty(claim.secrets)
      ? Signature.headers({
          secrets: claim.secrets,
          id: callback.idempotencyKey,
          timestamp: Math.floor(now / 1000),
          body: callback.body
        })
      : {})
  })

  /** Sends one callback; whether the claim's next one may follow. */
  const attempt = Effect.fnUntraced(function* (claim: Claim, callback: Outgoing, url: URL) {
    const at = yield* Clock.currentTimeMillis
    const reply = yield* Effect.result(
      client.request({ method: "POST", url, headers: headersOf(claim, callback, at), body: callback.body })
    )
    const now = yield* Clock.currentTimeMillis
    const answered = Result.isSuccess(reply)
    hosts.attempted(claim.host, { answered, at, now })
    const timed = { at, duration: now - at }
    if (answered && reply.success.status >= 200 && reply.success.status < 300) {
      outcomes.add({ kind: "delivered", callback, attempt: { ...timed, status: reply.success.status } })
      metrics.delivered(now - callback.created)
      return true
    }
    const failed: Attempt = answered
      ? { ...timed, status: reply.success.status, error: `answered ${reply.success.status}` }
      : { ...timed, error: reply.failure.reason }
    const retryAfter = answered && throttled.has(reply.success.status) ? reply.success.retryAfter : undefined
    const delay = yield* RetryProfile.delay(options.profile, callback.attempts + 1, retryAfter)
    const isGone = answered && reply.success.status === gone
    yield* Effect.logDebug(`A callback to ${claim.host} was not accepted: ${failed.error}`)
    if (delay !== undefined && !isGone) {
      outcomes.add({ kind: "retry", callback, attempt: failed, due: now + delay })
      metrics.failed()
      return true
    }
    const reason = isGone ? reasons.gone : reasons.exhausted
    yield* Effect.logWarning(`A subscription to ${claim.host} is deactivated: ${reason}`)
    outcomes.add({ kind: "refused", callback, attempt: failed, subscription: claim.subscription, reason })
    metrics.refused()
    return false
  })

  /** Works a claim off; leaves what there is no time for, or what should wait, to later claims. */
  const send = Effect.fnUntraced(function* (claim: Claim) {
    const parsed = yield* Effect.result(target.parse(claim.url))
    let next = 0
    if (Result.isFailure(parsed)) {
      const at = yield* Clock.currentTimeMillis
      const callback = claim.callbacks[next++]!
      const { message: error } = parsed.failure
      const { subscription } = claim
      outcomes.add({
        kind: "refused",
        callback,
        attempt: { at, duration: 0, error },
        subscription,
        reason: reasons.forbidden
      })
    } else {
      for (let more = true; more && next < claim.callbacks.length; ) {
        const now = yield* Clock.currentTimeMillis
        if (stopping || hosts.paused(claim.host, now) || now + timeoutMillis > claim.leasedUntil) break
        more = yield* attempt(claim, claim.callbacks[next++]!, parsed.success)
      }
    }
    for (const callback of claim.callbacks.slice(next)) outcomes.add({ kind: "unsent", callback })
  })

  const fibers = yield* FiberSet.make<void>()

  /** Claims what there is room for; whether there was anything. */
  const poll = Effect.gen(function* () {
    if (hosts.inFlight() >= options.concurrency) return true
    const now = yield* Clock.currentTimeMillis
    const rooms = hosts.rooms(yield* outbox.hosts, now)
    if (rooms.length === 0) return false
    const claims = yield* outbox.claim(rooms, leaseMillis)
    for (const claim of claims) {
      hosts.began(claim)
      metrics.waited(now - claim.callbacks[0]!.created)
      yield* FiberSet.run(
        fibers,
        send(claim).pipe(
          Effect.catchCause((cause) => Effect.logError("A claim was not worked off", cause)),
          Effect.ensuring(Effect.sync(() => hosts.ended(claim)))
        )
      )
    }
    return claims.length > 0
  })

  const poller = Effect.gen(function* () {
    let millis = options.idleMillis
    while (true) {
      yield* work.close
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
      yield* Effect.raceFirst(woken, work.await).pipe(Effect.timeoutOption(millis))
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
