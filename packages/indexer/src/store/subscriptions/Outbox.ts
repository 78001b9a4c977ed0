/**
 * The callbacks on their way out: who may send which next, and what came of it.
 *
 * A lease is on one subscription's next callbacks, to be sent one after another in the order of the chain, or on a
 * single one that is sent again. Of the callbacks that were never sent, a subscription's oldest is leased as long as
 * any is: no other process sends a later one meanwhile. The subscription's row is locked while a lease is made, and
 * the callbacks get their numbers there. A lease that no outcome follows ends by itself, and its callbacks are sent
 * again under the same keys. The holder of a subscription's lease may take a follow-on before the lease's outcomes are
 * acknowledged: until then the lease keeps other senders away.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Broadcasts from "../broadcasts/Broadcasts.ts"
import * as ProvenTime from "../chain/ProvenTime.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as AuditLog from "../operator/AuditLog.ts"
import * as BulkRequests from "./BulkRequests.ts"
import * as CallbackCopies from "./CallbackCopies.ts"
import { HostPermission } from "./HostPermission.ts"
import * as Acknowledgement from "./internal/Acknowledgement.ts"
import * as CallbackPartitions from "./internal/CallbackPartitions.ts"
import * as DeliveryRecord from "./internal/DeliveryRecord.ts"
import * as DueCallbacks from "./internal/DueCallbacks.ts"
import * as Expiry from "./internal/Expiry.ts"
import * as Gaps from "./internal/Gaps.ts"
import * as LateRetries from "./internal/LateRetries.ts"
import * as Leases from "./internal/Leases.ts"
import * as Pruning from "./internal/Pruning.ts"
import * as Receivers from "./internal/Receivers.ts"
import type { DueHost, DueSubscription, HostCapacity, Lease, Outcome } from "./Lease.ts"
import * as ListActivation from "./ListActivation.ts"
import * as Recovery from "./Recovery.ts"
import * as Removal from "./Removal.ts"
import { Subscriptions } from "./Subscriptions.ts"

/**
 * What is to be sent, for senders.
 *
 * @example
 * ```ts
 * import type { OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
 * import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
 * import * as Effect from "effect/Effect"
 *
 * const capacity = { limit: 1, batchSize: 10, callbacks: 10, followOns: [], retriesFirst: false }
 * const turns = { accountCursor: 0, accounts: new Map(), accountLimit: 1 }
 *
 * export const sendWith = Effect.fn(function* (send: (message: OutboxMessage) => Effect.Effect<void>) {
 *   const outbox = yield* Outbox
 *   const hosts = yield* outbox.hosts
 *   for (const { callbacks } of yield* outbox.lease(hosts.map(({ host }) => ({ host, ...capacity, ...turns })), 60_000)) {
 *     for (const callback of callbacks) {
 *       const at = Date.now()
 *       yield* send(callback)
 *       const attempt = { at, duration: Date.now() - at, status: 200 }
 *       yield* outbox.acknowledge([{ kind: "delivered", callback, attempt }])
 *     }
 *   }
 * })
 * ```
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** An effect that waits until any process on the store has made callbacks after this moment, or made them due. */
    readonly nextWakeup: Effect.Effect<Effect.Effect<void>>
    /**
     * Subscriptions that commits of this process have made something due of since the last time: a shortcut, the rows say
     * what is to be sent. Undefined where anything may be due.
     */
    readonly handedOver: Effect.Effect<ReadonlyArray<DueSubscription> | undefined>
    /** Takes note of blocks that were undone: leases that were taken before are not current any more, in no process. */
    readonly undone: Effect.Effect<void>
    /** Hosts that there is something to send to. */
    readonly hosts: Effect.Effect<ReadonlyArray<DueHost>, DatabaseError>
    /** URLs of some accounts' subscriptions, as many as tell whether any receiver can be reached. */
    readonly receivers: Effect.Effect<ReadonlyArray<string>, DatabaseError>
    /** Time of the newest block of all public networks, in milliseconds since the Unix epoch; undefined where there is none. */
    readonly newestBlock: Effect.Effect<number | undefined, DatabaseError>
    /** Takes what there is capacity for. */
    readonly lease: (
      capacities: ReadonlyArray<HostCapacity>,
      leaseMillis: number
    ) => Effect.Effect<ReadonlyArray<Lease>, DatabaseError>
    /** Writes outcomes down, all or none. */
    readonly acknowledge: (outcomes: ReadonlyArray<Outcome>) => Effect.Effect<void, DatabaseError>
    /**
     * Ends the leases of a process that is no more, where no other process can have any: on SQLite. Elsewhere those alone whose
     * time was set by a clock that was ahead.
     */
    readonly endLeases: Effect.Effect<void, DatabaseError>
    /** Forgets what was delivered, taken back or expired, and what removed subscriptions left, in small steps; how many callbacks that were. */
    readonly prune: Effect.Effect<number, DatabaseError>
    /**
     * Has callbacks sent now whose time a clock has set that was ahead: retries that are further off than the longest pause
     * after one attempt, after two, …, in milliseconds, and leases that last longer than any; how many.
     */
    readonly hasten: (longest: ReadonlyArray<number>) => Effect.Effect<number, DatabaseError>
    /** Gives up callbacks that have waited too long for the verification of their host; how many. */
    readonly expire: Effect.Effect<number, DatabaseError>
    /** Sends some callbacks again that accounts have asked for in bulk; whether there may be more to do now. */
    readonly recover: Effect.Effect<boolean, DatabaseError>
    /** Leases some callbacks that are sent to another URL; "later" where its host may not receive yet, undefined where there are none. */
    readonly leaseCopy: (
      leaseMillis: number
    ) => Effect.Effect<CallbackCopies.LeasedCopy | "later" | undefined, DatabaseError>
    /** Records the outcome of such a lease. */
    readonly advanceCopy: (
      copy: CallbackCopies.LeasedCopy,
      outcome: CallbackCopies.CopyOutcome
    ) => Effect.Effect<void, DatabaseError>
    /** Parks no more for inactive subscriptions with as much as may be, or that have been inactive for too long; of how many. */
    readonly endParking: Effect.Effect<number, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.suspend(() => make)
  )
}

/** What takes the price of callbacks that were accepted, in the transaction that notes it; nothing does by default. */
export const CallbackCharging = Context.Reference<Acknowledgement.Consequences["charge"]>(
  "@headwater/indexer/store/subscriptions/Outbox/CallbackCharging",
  { defaultValue: () => undefined }
)

/** How long and how much is kept. */
export const Retention = Context.Reference("@headwater/indexer/store/subscriptions/Outbox/Retention", {
  defaultValue: () => ({
    /** Of what was delivered, taken back or expired, in milliseconds. */
    finishedMillis: 30 * 86_400_000,
    /** Of callbacks parked until their host is verified or the subscription is activated, in milliseconds and in callbacks a subscription. */
    parkedMillis: 7 * 86_400_000,
    parkedCount: 10_000
  })
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { deactivate } = yield* Subscriptions
  const retention = yield* Retention
  const restMillis = yield* CallbackPartitions.RestMillis
  const policy = { mayReceive: yield* HostPermission, bounds: retention }
  const consequences = { deactivate, charge: yield* CallbackCharging }
  const recovery = yield* Recovery.make
  const stored = Effect.provideService(Database, database)

  return Outbox.of({
    nextWakeup: database.signals.next("callbacks"),
    handedOver: database.signals.takeDue,
    undone: database.signals.send("undone"),
    hosts: stored(Effect.flatMap(Clock.currentTimeMillis, DueCallbacks.hosts)),
    receivers: stored(Receivers.some(policy.mayReceive)),
    newestBlock: stored(ProvenTime.newestBlock),
    lease: (capacities, leaseMillis) =>
      Effect.suspend(() => {
        const undone = () => database.signals.count("undone")
        const before = undone()
        return stored(Leases.take(capacities, { leaseMillis, isCurrent: () => undone() === before }, policy))
      }),
    acknowledge: (outcomes) => stored(Acknowledgement.write(outcomes, consequences)),
    endLeases: stored(Leases.endAll()),
    prune: stored(
      Removal.rest.pipe(
        Effect.andThen(BulkRequests.prune),
        Effect.andThen(CallbackCopies.prune(retention.finishedMillis)),
        Effect.andThen(Broadcasts.prune(retention.finishedMillis)),
        Effect.andThen(DeliveryRecord.prune),
        Effect.andThen(AuditLog.prune),
        Effect.andThen(CallbackPartitions.keep({ ...retention, restMillis })),
        Effect.andThen(Pruning.prune(retention))
      )
    ),
    hasten: (longest) => stored(Effect.zipWith(LateRetries.hasten(longest), Leases.endLate(), (a, b) => a + b)),
    expire: stored(Expiry.overdue(retention, policy.mayReceive)),
    // Goes on with what a process that has ended had begun.
    endParking: stored(Effect.tap(Gaps.begin(retention), ListActivation.rest)),
    leaseCopy: (leaseMillis) => stored(CallbackCopies.lease(leaseMillis, policy.mayReceive, retention.parkedMillis)),
    advanceCopy: (copy, outcome) => stored(CallbackCopies.advance(copy, outcome, consequences.charge)),
    recover: stored(recovery.step())
  })
})
