/** Takes leases on callbacks, and ends those whose holder is no more. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import type { HostPermission } from "../HostPermission.ts"
import type { FollowOn, HostCapacity, Lease, OutboxMessage } from "../Lease.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"
import { retried, unsent } from "./CallbackIndexes.ts"
import * as Expiry from "./Expiry.ts"
import * as LeaseCandidates from "./LeaseCandidates.ts"
import * as Receivers from "./Receivers.ts"

const { callbacksAtOnce } = SmallSteps

type CallbackRow = Pick<
  Row<"callback">,
  "id" | "subscription" | "idempotency_key" | "body" | "attempts" | "attempt_log" | "sequence" | "created"
>
const columns = "id, subscription, idempotency_key, body, attempts, attempt_log, sequence, created"

/** Who may receive, and how much is parked for who may not yet. */
export interface Policy {
  readonly mayReceive: typeof HostPermission.Service
  readonly bounds: Expiry.Bounds
}

/** When what is due was looked for, in milliseconds since the Unix epoch, and how long leases last, or before that. */
interface Term extends Pick<Lease, "isCurrent"> {
  readonly now: number
  readonly leaseMillis: number
}

const message = ({ account, host }: Receivers.Receiver, row: CallbackRow, sequence: number): OutboxMessage => ({
  id: row.id,
  account,
  subscription: row.subscription,
  host,
  idempotencyKey: row.idempotency_key,
  sequence,
  body: row.body,
  attempts: row.attempts,
  attemptLog: row.attempt_log,
  created: row.created
})

/** When a lease ends that is made now: not from the look on, since a look takes seconds on a busy server. */
const endOf = ({ leaseMillis }: Term) => Effect.map(Clock.currentTimeMillis, (now) => now + leaseMillis)

const lease = (
  receiver: Receivers.Receiver,
  callbacks: ReadonlyArray<OutboxMessage>,
  { failing, full, leasedUntil }: Pick<Lease, "failing" | "full" | "leasedUntil">,
  { isCurrent, now }: Term
) =>
  Effect.map(
    Receivers.secretsOf(receiver, now),
    (secrets): Lease => ({
      account: receiver.account,
      subscription: receiver.id,
      host: receiver.host,
      url: receiver.callback_url,
      secrets,
      callbacks,
      full,
      failing,
      leasedUntil,
      isCurrent
    })
  )

/**
 * Locks the subscriptions, and parks what is due of those that may not receive; the others, in the order of the ids. Their
 * oldest parked callbacks become due, more than a lease has, so that none is sent before an older one. What is more than
 * a step changes waits for the next lease.
 */
const lockReceivers = Effect.fnUntraced(function* (ids: Iterable<number>, now: number, { bounds, mayReceive }: Policy) {
  const wanted = [...ids]
  let left: number = callbacksAtOnce
  const locked = yield* Receivers.lock(wanted)
  const open: Array<Receivers.Receiver> = []
  for (const id of wanted) {
    const receiver = locked.get(id)
    if (receiver === undefined) continue
    if (receiver.active === 1 && (yield* mayReceive(receiver.account, receiver.host))) {
      if (receiver.has_parked === 0) open.push(receiver)
      else if (left > 0) {
        const resumed = yield* CallbackState.resume(receiver.id, now, left)
        if (resumed < left || left === callbacksAtOnce) open.push(receiver)
        left -= resumed
      }
      continue
    }
    if (left <= 0) continue
    left -= yield* CallbackState.park(receiver, left)
    if (receiver.active === 1) left -= yield* Expiry.trim(receiver, bounds)
  }
  return open
})

/**
 * Of each subscription, its oldest callbacks that were never sent, up to the first that is leased, that takes back a
 * callback that is leased, or whose block has left the chain and that is to be taken back.
 */
const oldest = Effect.fnUntraced(function* (
  receivers: ReadonlyArray<Receivers.Receiver>,
  streams: ReadonlyMap<number, FollowOn>,
  now: number
) {
  const { selectEach } = yield* Database
  const found = yield* selectEach<
    CallbackRow & {
      readonly leased_until: number
      readonly original_leased_until: number | null
      readonly has_left: number
    }
  >(
    { host: "text", id: "bigint", after: "bigint", batchSize: "bigint" },
    receivers.map(({ host, id }) => {
      const { after, batchSize } = streams.get(id)!
      return { host, id, after, batchSize }
    }),
    `select ${columns}, leased_until, case when ${UndoneBlocks.hasLeft} then 1 else 0 end as has_left,
       (select o.leased_until from callback o where o.id = callback.original) as original_leased_until
     from callback
     where state = 'due' and attempts = 0 and host = :host and subscription = :id and id > :after
     order by id limit :batchSize`
  )
  const bySubscription = Map.groupBy(found, ({ subscription }) => subscription)
  for (const [subscription, list] of bySubscription) {
    const end = list.findIndex(
      (row) => row.has_left === 1 || Math.max(row.leased_until, row.original_leased_until ?? 0) > now
    )
    if (end >= 0) bySubscription.set(subscription, list.slice(0, end))
  }
  return bySubscription
})

/** Leases of callbacks that were never sent, which get their numbers. */
const firstAttempts = Effect.fnUntraced(function* (candidates: ReadonlyArray<FollowOn>, term: Term, policy: Policy) {
  const { updateEach } = yield* Database
  const streams = new Map(candidates.map((stream) => [stream.subscription, stream]))
  const receivers = yield* lockReceivers(streams.keys(), term.now, policy)
  const found = yield* oldest(receivers, streams, term.now)
  const leasedUntil = yield* endOf(term)
  const leases: Array<Lease> = []
  const numbered: Array<{ readonly id: number; readonly last_sequence: number }> = []
  for (const receiver of receivers) {
    const list = found.get(receiver.id) ?? []
    if (list.length === 0) continue
    let last = receiver.last_sequence
    const callbacks = list.map((row) => message(receiver, row, row.sequence ?? ++last))
    if (last !== receiver.last_sequence) numbered.push({ id: receiver.id, last_sequence: last })
    const { batchSize, failing } = streams.get(receiver.id)!
    const full = callbacks.length === batchSize
    leases.push(yield* lease(receiver, callbacks, { failing, full, leasedUntil }, term))
  }
  yield* updateEach("subscription", numbered)
  return leases
})

/** Leases of single callbacks that are sent again. */
const laterAttempts = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, term: Term) {
  if (ids.length === 0) return []
  const { forUpdateSkipLocked, numbers, read } = yield* Database
  const { now } = term
  const found = yield* read(
    rows(sql<CallbackRow>`
      select ${sql.raw(columns)} from callback
      where id in ${numbers(ids)} and ${retried} and due <= ${now} and leased_until <= ${now}
        and not ${sql.raw(UndoneBlocks.hasLeft)}
      ${forUpdateSkipLocked}`)
  )
  const receivers = yield* Receivers.find([...new Set(found.map(({ subscription }) => subscription))])
  const leasedUntil = yield* endOf(term)
  const leases: Array<Lease> = []
  const inactive: Array<number> = []
  for (const row of found) {
    const receiver = receivers.get(row.subscription)
    // What was sent before has a number.
    if (receiver === undefined || row.sequence === null) continue
    if (receiver.active === 0) {
      inactive.push(row.id)
      continue
    }
    const callbacks = [message(receiver, row, row.sequence)]
    leases.push(yield* lease(receiver, callbacks, { failing: true, full: false, leasedUntil }, term))
  }
  // More were due than a deactivation parks at once.
  if (inactive.length > 0) yield* CallbackState.apply("park", sql`id in ${numbers(inactive)}`)
  return leases
})

/** Leases of both, written down. */
const leaseAll = Effect.fnUntraced(function* (
  streams: ReadonlyArray<FollowOn>,
  retries: ReadonlyArray<number>,
  term: Term,
  policy: Policy
) {
  const leases = [...(yield* firstAttempts(streams, term, policy)), ...(yield* laterAttempts(retries, term))]
  yield* CallbackState.applyEach(
    "lease",
    leases.flatMap(({ callbacks, leasedUntil }) =>
      callbacks.map(({ id, sequence }) => ({ id, leased_until: leasedUntil, sequence }))
    )
  )
  return leases
})

/**
 * Takes what there is capacity for. In a transaction of its own: callbacks that are leased in the one that enters them cost
 * as much together, and a chain's commit takes as much longer as the lease is sooner.
 */
export const take = Effect.fnUntraced(function* (
  capacities: ReadonlyArray<HostCapacity>,
  { isCurrent, leaseMillis }: { readonly leaseMillis: number } & Pick<Lease, "isCurrent">,
  policy: Policy
) {
  const { flush, optimistic } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const { retries, streams } = yield* LeaseCandidates.find(capacities, now)
  if (streams.length === 0 && retries.length === 0) return []
  const term = { now, isCurrent, leaseMillis }
  const leases = yield* optimistic(leaseAll(streams, retries, term, policy))
  // What is told under a number, and of which block, outlasts a loss of power: else the number would be given to another
  // callback, and a block that leaves the chain meanwhile would never be taken back.
  if (leases.some(({ callbacks }) => callbacks.some(({ attempts }) => attempts === 0))) yield* flush
  return leases
})

/** Ends leases, those alone that end behind a time; how many. */
const endBehind = Effect.fnUntraced(function* (time: RawBuilder<number>) {
  const { transaction } = yield* Database
  let ended = 0
  for (const due of [unsent, retried]) {
    const some = CallbackState.applySome("release", sql`${due} and leased_until > ${time}`, callbacksAtOnce)
    yield* SmallSteps.whileMore(
      Effect.map(transaction(some), (count) => {
        ended += count
        return count === callbacksAtOnce
      })
    )
  }
  return ended
})

/** Milliseconds that no lease lasts: one that ends later was taken by a clock that was ahead. */
const longerThanAny = 600_000

/**
 * Ends leases of processes whose clock was ahead, which would keep callbacks from being sent until that time comes; how many. It is
 * the store's clock that says so: one of this process that is behind would end all that others are sending. A process that has
 * the store alone ends all leases when it starts.
 */
export const endLate = Effect.fn("Leases.endLate")(function* () {
  const { exclusive, now } = yield* Database
  return exclusive ? 0 : yield* endBehind(sql`(select ${now} + ${longerThanAny})`)
})

/** Ends every lease, where a process that starts cannot find those of another one; else those that cannot be one's. */
export const endAll = Effect.fnUntraced(function* () {
  const { exclusive } = yield* Database
  yield* exclusive ? endBehind(sql`0`) : endLate()
})
