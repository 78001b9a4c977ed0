/** Leases as much as there is capacity for, as soon as there is something to send. */
import * as SteadyTime from "@headwater/indexer/SteadyTime"
import type { DueSubscription } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import { OwnOutages } from "../../supervision/OwnOutages.ts"
import type { OutcomeWriter } from "../OutcomeWriter.ts"
import type { ReceiverHosts } from "../ReceiverHosts.ts"
import type * as DeliveryStreams from "./DeliveryStreams.ts"
import * as SaidOnce from "./SaidOnce.ts"

interface Dependencies {
  readonly hosts: ReceiverHosts
  readonly streams: Effect.Success<ReturnType<typeof DeliveryStreams.make>>
  readonly outcomes: OutcomeWriter
  /** Opened where this process has capacity again. */
  readonly wakeup: Latch.Latch
  readonly leaseMillis: number
  /** How often the outbox is looked at: at least when something was found, and at most. */
  readonly busyMillis: number
  readonly idleMillis: number
  /** How long at least after something was found. */
  readonly gapMillis: number
  /** How long nothing is leased after the store has failed. */
  readonly failureMillis: number
}

/** How long nothing can be leased of a store that can be written, until that is an outage. */
const outageMillis = 10_000

/** How often is looked whether the store keeps a look at the outbox waiting. */
const watchMillis = 1_000

/** Never returns. */
export const run = Effect.fnUntraced(function* (dependencies: Dependencies) {
  const { hosts, leaseMillis, outcomes, streams, wakeup } = dependencies
  const { busyMillis, failureMillis, gapMillis, idleMillis } = dependencies
  const outbox = yield* Outbox

  const outages = yield* OwnOutages
  const said = SaidOnce.make("Callbacks could not be leased")
  /** Since when nothing can be leased of a store that can be written. */
  let hinderedSince: number | undefined
  const hindered = Effect.fnUntraced(function* (error: string) {
    const now = yield* SteadyTime.millis
    // A store that is away is an outage by itself.
    const isStoreAway = (yield* outages.lasting).some(({ lack }) => lack === "store")
    hinderedSince = isStoreAway ? now : (hinderedSince ?? now)
    if (now - hinderedSince >= outageMillis) yield* outages.begin("leases", error)
  })
  /** Since when the store has been asked without having answered. */
  let askedSince: number | undefined
  const watch = Effect.gen(function* () {
    yield* Effect.sleep(watchMillis)
    if (askedSince === undefined || (yield* SteadyTime.millis) - askedSince < outageMillis) return
    // What waits, as behind a lock of another's, fails after a long time or never.
    hinderedSince ??= askedSince
    yield* hindered(`no answer within ${outageMillis / 1000} s`)
  })
  const worked = Effect.suspend(() => {
    said.worked()
    hinderedSince = undefined
    return outages.end("leases")
  })
  /** Whether something may be due that was not leased, for which there may be capacity again. */
  let isLeft = true

  /** What may be leased of all that is due, or of these subscriptions alone. */
  const capacitiesOf = Effect.fnUntraced(function* (
    due: ReadonlyArray<DueSubscription> | undefined,
    followable: ReadonlyArray<DeliveryStreams.DeliveryStream>
  ) {
    const now = yield* Clock.currentTimeMillis
    if (due !== undefined) return hosts.capacitiesFor(due, now)
    const found = yield* outbox.hosts
    isLeft = found.length > 0
    return hosts.capacities(
      found,
      now,
      followable.map(({ lease }) => lease)
    )
  })

  /** Leases what there is capacity for; whether there was anything. */
  const poll = Effect.fnUntraced(
    function* (due: ReadonlyArray<DueSubscription> | undefined) {
      streams.withdraw()
      if (due?.length === 0) return false
      const wasLeft = isLeft
      isLeft = true
      // A lease whose outcomes cannot be written would end, and its callbacks would be sent again and again.
      if (outcomes.isStuck()) {
        yield* hindered("what came of callbacks could not be written")
        return false
      }
      if (hosts.isFull()) return true
      const followable = due === undefined ? streams.followable(yield* Clock.currentTimeMillis) : []
      const capacities = yield* capacitiesOf(due, followable)
      if (capacities.length === 0) {
        if (due === undefined) yield* worked
        return false
      }
      const leases = yield* outbox.lease(capacities, leaseMillis)
      yield* worked
      streams.add(leases, followable)
      if (due !== undefined) isLeft = wasLeft || leases.length < due.length || leases.some(({ full }) => full)
      return leases.length > 0
    },
    Effect.uninterruptible,
    Effect.catchCause((cause) =>
      said
        .failed(cause)
        .pipe(
          Effect.andThen(hindered(String(Cause.squash(cause)))),
          Effect.andThen(Effect.sleep(failureMillis)),
          Effect.as(false)
        )
    )
  )

  yield* Effect.forkChild(Effect.forever(watch))
  /** When all that is due is looked at next, whatever wakes this before. */
  let lookAt = 0
  /** Whether nothing has woken this but commits that have said what they made due. */
  let isTold = false
  while (true) {
    yield* wakeup.close
    const woken = yield* outbox.nextWakeup
    const told = yield* outbox.handedOver
    const due = isTold && (yield* Clock.currentTimeMillis) < lookAt ? told : undefined
    askedSince = yield* SteadyTime.millis
    const busy = yield* poll(due)
    askedSince = undefined
    if (busy) yield* Effect.sleep(gapMillis)
    const now = yield* Clock.currentTimeMillis
    const next = now + (busy && isLeft ? busyMillis : idleMillis)
    lookAt = due === undefined ? next : Math.min(lookAt, next)
    const until = isLeft
      ? Effect.raceFirst(Effect.as(woken, true), Effect.as(wakeup.await, false))
      : Effect.as(woken, true)
    isTold = Option.getOrElse(yield* Effect.timeoutOption(until, Math.max(lookAt - now, 0)), () => false)
  }
})
