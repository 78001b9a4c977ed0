/**
 * Copies of what a subscription was told, sent to another URL: for a receiver that is to know what another one was told.
 * The callbacks, their states and their own receiver stay as they are. A copy goes on from the last number that the other
 * URL has accepted: a kill sends some again, under the same keys, and loses none.
 */
import * as Callback from "@headwater/core/events/Callback"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as Limits from "../accounts/Limits.ts"
import * as ProvenTime from "../chain/ProvenTime.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { HostPermission } from "./HostPermission.ts"
import type { Lease } from "./Lease.ts"
import type { Consequences } from "./internal/Acknowledgement.ts"
import * as Receivers from "./internal/Receivers.ts"
import type { Since } from "./Recovery.ts"

/** How far a copy is. */
export interface CallbackCopy {
  readonly callbackUrl: string
  /** The last number that the URL has accepted, or that is not sent; and the last one that is to be. */
  readonly after: number
  readonly last: number
  /** How many the URL has accepted. */
  readonly callbacks: number
  /** Why the last attempt failed; undefined where it was accepted. */
  readonly error: string | undefined
  /** When the next attempt is, in milliseconds since the Unix epoch; undefined where there is none: the attempts have run out. */
  readonly due: number | undefined
}

/** Some callbacks that the lease's holder alone sends to the other URL, and the copy that they are of. */
export interface LeasedCopy {
  readonly id: number
  /** How often the copy has been asked for. */
  readonly generation: number
  readonly lease: Lease
  /** Failed attempts, one after another. */
  readonly attempts: number
  /** The last number that has been looked at. */
  readonly through: number
  /** Whether there are no callbacks behind that number. */
  readonly isLast: boolean
}

/** What came of the callbacks of a lease: how many were accepted, from the first on, and how the next one failed, if it was sent. */
export interface CopyOutcome {
  readonly accepted: number
  readonly failure: CopyFailure | undefined
}

export interface CopyFailure {
  readonly error: string
  /** Failed attempts, one after another. */
  readonly attempts: number
  /** When it is sent again, in milliseconds since the Unix epoch; undefined where it is not. */
  readonly due: number | undefined
}

/** Callbacks of one lease. */
const atOnce = 50
/** Leases of one account at a time, or one more where several daemons lease at the same moment. */
const leasesOfAccount = 2
/** How long a copy is not looked at whose host may not receive. */
const unverifiedMillis = 300_000
/** The longest reason that is kept. */
const maxError = 300

const copyOf = ({ after, callback_url, callbacks, due, error, last, stopped }: Row<"callback_copy">): CallbackCopy => ({
  ...{ callbackUrl: callback_url, after, last, callbacks },
  error: error ?? undefined,
  due: stopped === 1 ? undefined : due
})

/** How far the copy of a subscription's callbacks is; undefined where there is none, or all were accepted. */
export const of = Effect.fnUntraced(function* (subscription: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) => db.selectFrom("callback_copy").selectAll().where("subscription", "=", subscription))
  return row === undefined ? undefined : copyOf(row)
})

/**
 * In a transaction that has the lock of the subscription: begins a copy in place of the one that there may be, when the lease
 * that somebody has of that one is over.
 */
export const begin = Effect.fnUntraced(function* (
  { account, id, last_sequence }: Pick<Row<"subscription">, "id" | "account" | "last_sequence">,
  callbackUrl: string,
  since: Since
) {
  const { forUpdate, query } = yield* Database
  const limits = yield* Limits.Limits
  const now = yield* Clock.currentTimeMillis
  const [before] = yield* query((db) =>
    db.selectFrom("callback_copy").selectAll().where("subscription", "=", id).modifyEnd(forUpdate)
  )
  if (before === undefined || before.stopped === 1) {
    yield* Limits.lockAccount(account)
    yield* Limits.check("callbackCopies", yield* Limits.callbackCopiesOf(account), limits)
  }
  const asked = {
    ...{ callback_url: callbackUrl, after: Math.min(since.after ?? 0, last_sequence), last: last_sequence },
    ...{ since: since.time ?? 0, callbacks: 0, attempts: 0, error: null, stopped: 0 },
    ...{ begun: now, due: Math.max(now, before?.leased_until ?? 0), generation: (before?.generation ?? 0) + 1 }
  }
  const [row] = yield* query((db) =>
    db
      .insertInto("callback_copy")
      .values({ ...asked, subscription: id, account })
      .onConflict((on) => on.column("subscription").doUpdateSet(asked))
      .returningAll()
  )
  return copyOf(row!)
})

/** In a transaction: the copy that has waited longest, where its account has few leases. */
const next = Effect.fnUntraced(function* (now: number) {
  const { forUpdateSkipLocked, read } = yield* Database
  const [copy] = yield* read(
    rows(sql<Row<"callback_copy">>`
      select * from callback_copy
      where stopped = 0 and due <= ${now} and leased_until <= ${now} and (
        select count(*) from callback_copy other
        where other.account = callback_copy.account and other.leased_until > ${now}
      ) < ${leasesOfAccount}
      order by due, id limit 1 ${forUpdateSkipLocked}`)
  )
  return copy
})

/** In a transaction: the callbacks that are sent next, and up to which number there are no others. */
const callbacksOf = Effect.fnUntraced(function* (copy: Row<"callback_copy">, host: string) {
  const { query } = yield* Database
  const { account, after, attempts, last, since, subscription } = copy
  const found = yield* query(
    rows(sql<Row<"callback">>`
      select * from every_callback where subscription = ${subscription} and sequence > ${after} and sequence <= ${last}
      order by sequence limit ${atOnce}`)
  )
  const callbacks = found
    .filter(({ created, event, state }) => created >= since && state !== "orphaned" && !Callback.feedEvents.has(event))
    .map(({ body, created, id, idempotency_key: idempotencyKey, sequence }) => ({
      ...{ id, account, subscription, host, idempotencyKey, sequence: sequence!, body, created },
      ...{ attempts, attemptLog: "[]" }
    }))
  return { callbacks, through: found.at(-1)?.sequence ?? last, isLast: found.length < atOnce }
})

/** Leases the copy that has waited longest; "later" where its host may not receive yet, undefined where no copy waits. */
const take = Effect.fnUntraced(function* (
  leaseMillis: number,
  mayReceive: typeof HostPermission.Service,
  parkedMillis: number
) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const copy = yield* next(now)
  if (copy === undefined) return undefined
  const { account, begun, callback_url, id } = copy
  const set = (change: Partial<Pick<Row<"callback_copy">, "due" | "error" | "leased_until" | "stopped">>) =>
    query((db) => db.updateTable("callback_copy").set(change).where("id", "=", id))
  if (yield* mayReceive(account, new URL(callback_url).hostname)) {
    const leased_until = now + leaseMillis
    yield* set({ leased_until })
    return { ...copy, leased_until }
  }
  yield* set({
    ...{ due: now + unverifiedMillis, error: "the host is not verified" },
    stopped: begun + parkedMillis < now ? 1 : 0
  })
  return "later" as const
})

/** Leases some callbacks; as {@link take}. */
export const lease = Effect.fn("CallbackCopies.lease")(function* (
  leaseMillis: number,
  mayReceive: typeof HostPermission.Service,
  parkedMillis: number
) {
  const { optimistic } = yield* Database
  const copy = yield* optimistic(take(leaseMillis, mayReceive, parkedMillis))
  if (copy === undefined || copy === "later") return copy
  const { account, attempts, callback_url: url, generation, id, leased_until: leasedUntil, subscription } = copy
  const receiver = (yield* Receivers.find([subscription])).get(subscription)
  // The subscription has been removed meanwhile, and the copy with it.
  if (receiver === undefined) return "later" as const
  const host = new URL(url).hostname
  const { callbacks, isLast, through } = yield* callbacksOf(copy, host)
  const secrets = yield* Receivers.secretsOf(receiver, yield* Clock.currentTimeMillis)
  // A copied callback was told: a reorganisation does not untell it.
  const isCurrent = () => true
  const held: Lease = {
    ...{ account, subscription, host, url, secrets, callbacks },
    ...{ full: !isLast, failing: false, leasedUntil, isCurrent }
  }
  return { id, generation, attempts, through, isLast, lease: held } satisfies LeasedCopy
})

/** What is noted of an outcome; undefined where the copy has nothing more to send. */
const changeOf = ({ isLast, lease: { callbacks }, through }: LeasedCopy, { accepted, failure }: CopyOutcome) => {
  const hasAll = accepted === callbacks.length
  if (hasAll && isLast) return undefined
  const after = hasAll ? through : callbacks[accepted - 1]?.sequence
  return {
    ...(after === undefined ? {} : { after, attempts: 0, error: null }),
    callbacks: sql<number>`callbacks + ${accepted}`,
    ...(failure && {
      ...{ attempts: failure.attempts, error: failure.error.slice(0, maxError).replaceAll("\0", "") },
      ...(failure.due === undefined ? { stopped: 1 } : {})
    })
  }
}

/** Takes down what came of a lease; `charge` takes the price of what was accepted. */
export const advance = Effect.fn("CallbackCopies.advance")(function* (
  copy: LeasedCopy,
  outcome: CopyOutcome,
  charge: Consequences["charge"]
) {
  const { query, transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const { generation, id, lease } = copy
  const sent = lease.callbacks.slice(0, outcome.accepted)
  const change = changeOf(copy, outcome)
  const isLeased = sql<boolean>`id = ${id} and leased_until = ${lease.leasedUntil}`
  const released = { leased_until: 0, due: outcome.failure?.due ?? now }
  yield* transaction(
    Effect.gen(function* () {
      if (charge !== undefined && sent.length > 0) yield* charge(sent)
      // The holder of a later lease goes on from where that lease began; a copy that was asked for anew begins there.
      const isAskedFor = sql<boolean>`${isLeased} and generation = ${generation}`
      const noted = yield* query((db) =>
        change === undefined
          ? db.deleteFrom("callback_copy").where(isAskedFor).returning("id")
          : db
              .updateTable("callback_copy")
              .set({ ...change, ...released })
              .where(isAskedFor)
              .returning("id")
      )
      if (noted.length > 0) return
      yield* query((db) => db.updateTable("callback_copy").set({ leased_until: 0, due: now }).where(isLeased))
    })
  )
})

/** Forgets copies that have stopped and that nobody has asked for anew. */
export const prune = Effect.fn("CallbackCopies.prune")(function* (keptMillis: number) {
  const { query } = yield* Database
  const before = (yield* ProvenTime.now) - keptMillis
  yield* query((db) => db.deleteFrom("callback_copy").where("stopped", "=", 1).where("due", "<", before))
})
