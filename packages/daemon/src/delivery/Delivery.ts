/**
 * Sends callbacks until their receivers accept them or the attempts run out.
 *
 * What is to be sent, and what came of it, are rows of the outbox; a fiber carries only the lease that it works off. One
 * poller leases as much as there is capacity for; streams send one callback after another; outcomes are written in
 * batches. What follows a lease is leased while it is sent. When the scope ends, attempts in flight finish, and their
 * outcomes are written. Where a callback's retry is decided: `RetryDecision`.
 */
import type { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { OwnOutages } from "../supervision/OwnOutages.ts"
import type { CallbackTarget } from "./CallbackTarget.ts"
import * as CopyDelivery from "./CopyDelivery.ts"
import * as DeliveryMetrics from "./DeliveryMetrics.ts"
import * as DeliveryTrace from "./DeliveryTrace.ts"
import * as DeliveryAttempt from "./internal/DeliveryAttempt.ts"
import * as DeliveryPoller from "./internal/DeliveryPoller.ts"
import * as DeliveryStreams from "./internal/DeliveryStreams.ts"
import * as SaidOnce from "./internal/SaidOnce.ts"
import * as OutcomeWriter from "./OutcomeWriter.ts"
import * as OwnFailures from "./OwnFailures.ts"
import { type ReceiverClient, ReceiverClientOptions } from "./ReceiverClient.ts"
import * as ReceiverHosts from "./ReceiverHosts.ts"
import * as RetryProfile from "./RetryProfile.ts"

export const DeliveryOptions = Context.Reference("@headwater/daemon/delivery/Delivery/Options", {
  defaultValue: () => ({
    profile: RetryProfile.hosted as RetryProfile.RetryProfile,
    /** Leases in flight over all hosts, and to one. */
    concurrency: 256,
    perHost: 16,
    /** Callbacks in one lease. */
    batchSize: 128,
    /** Callbacks in all leases of one host, and of all, in flight and waiting. */
    leasedOfHost: 1024,
    leased: 32_768,
    /** Attempts without an answer, one after another, until a host is left alone; for how long at first and at most. */
    failures: 5,
    pauseMillis: 5000,
    maxPauseMillis: 60_000,
    /** How often the outbox is looked at: at least when something was found, and at most. */
    busyMillis: 50,
    idleMillis: 500,
    /** How long at least after something was found: leases of many cost little more than leases of one. */
    gapMillis: 10,
    /** How long nothing is leased after the store has failed. */
    failureMillis: 2000,
    /** When outcomes are written: as soon as so many are there; else after so long, or so many times as long where nobody waits for them. */
    outcomeBatchSize: 256,
    outcomeBatchMillis: 10,
    outcomeMoments: 5,
    /** How often old callbacks are looked for. */
    sweepMillis: 3_600_000,
    /** How often the bounds of inactive subscriptions are looked at. */
    parkingMillis: 15_000,
    /** How often callbacks are looked for that are sent again in bulk, there or to another URL. */
    recoveryMillis: 1000,
    /** Subscriptions whose callbacks are sent to another URL at the same time. */
    copies: 8
  })
})

/** How long it may take until an outcome is written. */
const writingMillis = 2000

/**
 * Ends once no outcome of an attempt can be written down any more, since the store is another one: attempts that are under way
 * then do not hold up the end.
 */
export const OutcomesLost = Context.Reference<Effect.Effect<unknown>>(
  "@headwater/daemon/delivery/Delivery/OutcomesLost",
  {
    defaultValue: () => Effect.never
  }
)

/** Runs delivery in the layer's scope. */
export const layer: Layer.Layer<never, never, Outbox | RecurringTasks | ReceiverClient | CallbackTarget | OwnOutages> =
  Layer.effectDiscard(Effect.suspend(() => run))

/** Repeats work that may fail; what the work answers is the pause before the next time, in milliseconds. Never returns. */
const repeatedly = (work: Effect.Effect<number, DatabaseError>, failure: string, failedMillis: number) =>
  SaidOnce.orElse(work, failure, failedMillis).pipe(
    Effect.flatMap((millis) => Effect.sleep(millis)),
    Effect.forever
  )

/** Forgets old callbacks, gives up those that were parked for too long, and sends what a wrong clock has put off. */
const sweep = Effect.fnUntraced(function* (outbox: Outbox["Service"], profile: RetryProfile.RetryProfile) {
  const hastened = yield* outbox.hasten(RetryProfile.longest(profile))
  if (hastened > 0) yield* Effect.logWarning(`Sent ${hastened} callbacks again that a clock ahead of time had put off`)
  const pruned = yield* outbox.prune
  const expired = yield* outbox.expire
  if (pruned + expired > 0) yield* Effect.logInfo(`Forgot ${pruned} callbacks, gave up ${expired} that waited too long`)
})

/** Keeps what is parked for inactive subscriptions within bounds. */
const boundParking = Effect.fnUntraced(function* (outbox: Outbox["Service"]) {
  const ended = yield* outbox.endParking
  if (ended > 0)
    yield* Effect.logWarning(`Nothing more is parked for ${ended} inactive subscriptions: a bound is reached`)
})

const run = Effect.gen(function* () {
  const outbox = yield* Outbox
  const outcomesLost = yield* OutcomesLost
  const { whenDue } = yield* RecurringTasks
  const options = yield* DeliveryOptions
  const { timeoutMillis } = yield* ReceiverClientOptions
  const attemptMillis = timeoutMillis + OwnFailures.judgeMillis + writingMillis
  // Time for an attempt to be begun late in the lease.
  const leaseMillis = timeoutMillis + attemptMillis
  const metrics = yield* DeliveryMetrics.make
  const wakeup = yield* Latch.make()
  const own = yield* OwnFailures.make(Effect.asVoid(wakeup.open))
  const hosts = ReceiverHosts.make(options, own.isOut)
  const outcomes = yield* OutcomeWriter.make({
    batchSize: options.outcomeBatchSize,
    batchMillis: options.outcomeBatchMillis,
    moments: options.outcomeMoments,
    flushed: Effect.asVoid(wakeup.open)
  })
  const attempt = yield* DeliveryAttempt.make({
    ...{ profile: options.profile, hosts, outcomes, own, metrics },
    traced: yield* DeliveryTrace.make
  })
  let stopping = false
  const streams = yield* DeliveryStreams.make({
    ...{ attempt, hosts, outcomes, attemptMillis },
    stopping: () => stopping
  })

  const copies = yield* CopyDelivery.make({
    ...{ profile: options.profile, own, leaseMillis, attemptMillis },
    ...{ atOnce: options.copies, lookMillis: options.recoveryMillis, stopping: () => stopping }
  })

  yield* Effect.retry(outbox.endLeases, Schedule.spaced("1 second")).pipe(Effect.orDie)
  const untilEnded = (ended: Effect.Effect<unknown>) => Effect.asVoid(Effect.raceFirst(ended, outcomesLost))
  // What follows ends in the opposite order.
  yield* Effect.addFinalizer(() => untilEnded(copies.ended))
  yield* Effect.addFinalizer(() => untilEnded(streams.ended).pipe(Effect.andThen(outcomes.flush)))
  yield* Effect.forkScoped(outcomes.run)
  yield* Effect.addFinalizer(() => Effect.sync(() => (stopping = true)))
  yield* Effect.forkScoped(DeliveryPoller.run({ ...options, ...{ hosts, streams, outcomes, wakeup, leaseMillis } }))
  yield* Effect.forkScoped(own.run)
  yield* Effect.forkScoped(copies.run)
  const { gapMillis, parkingMillis, recoveryMillis, sweepMillis } = options
  const aside = (...work: Parameters<typeof repeatedly>) => Effect.forkScoped(repeatedly(...work))
  yield* aside(
    whenDue("sweep", sweepMillis, sweep(outbox, options.profile)),
    "Old callbacks could not be removed",
    sweepMillis
  )
  yield* aside(
    whenDue("parking", parkingMillis, boundParking(outbox)),
    "Inactive subscriptions could not be looked at",
    parkingMillis
  )
  yield* aside(
    Effect.map(outbox.recover, (isBusy) => (isBusy ? gapMillis : recoveryMillis)),
    "Callbacks could not be sent again in bulk",
    recoveryMillis
  )
})
