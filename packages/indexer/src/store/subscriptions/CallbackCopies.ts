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
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { HostPermission } from "./HostPermission.ts"
import type { Lease } from "./Lease.ts"
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
  readonly lease: Lease
  /** Failed attempts, one after another. */
  readonly attempts: number
  /** The last number that has been looked at, and whether that is the copy's last one. */
  readonly through: number
  readonly isLast: boolean
}

/** What came of the callbacks of a lease: how many were accepted, from the first on, and how the next one failed, if it was sent. */
export interface Sent {
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

/** Takes the price of callbacks that were accepted, in the transaction that notes it. */
type Charge = (
  sent: ReadonlyArray<{ readonly id: number; readonly subscription: number }>
) => Effect.Effect<void, DatabaseError>

/** Callbacks of one lease; leases of one account at a time; and how long a host that may not receive is not looked at. */
const atOnce = 50
const leasesOfAccount = 2
const unverifiedMillis = 60_000
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

/** In a transaction that has the lock of the subscription: begins a copy in place of the one that there may be. */
export const begin = Effect.fnUntraced(function* (
  { account, id, last_sequence }: Pick<Row<"subscription">, "id" | "account" | "last_sequence">,
  callbackUrl: string,
  since: Since
) {
  const { query } = yield* Database
  const limits = yield* Limits.Limits
  yield* query((db) => db.deleteFrom("callback_copy").where("subscription", "=", id))
  yield* Limits.lockAccount(account)
  yield* Limits.check("callbackCopies", yield* Limits.callbackCopiesOf(account), limits)
  const [row] = yield* query((db) =>
    db
      .insertInto("callback_copy")
      .values({
        ...{ subscription: id, account, callback_url: callbackUrl },
        ...{ after: since.after ?? 0, last: last_sequence, since: since.time ?? 0, due: 0 }
      })
      .returningAll()
  )
  return copyOf(row!)
})

/** In a transaction: the copy that has waited longest, where its account has few leases. */
const next = Effect.fnUntraced(function* (now: number) {
  const { forUpdateSkipLocked, query } = yield* Database
  const [copy] = yield* query(
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
      select * from callback where subscription = ${subscription} and sequence > ${after} and sequence <= ${last}
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

/**
 * Leases some callbacks of the copy that has waited longest; "later" where its host may not receive yet, undefined where no
 * copy waits.
 */
export const lease = Effect.fn("CallbackCopies.lease")(function* (
  leaseMillis: number,
  mayReceive: typeof HostPermission.Service
) {
  const { query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const copy = yield* next(now)
      if (copy === undefined) return undefined
      const { account, attempts, callback_url: url, id, subscription } = copy
      const host = new URL(url).hostname
      const receiver = (yield* Receivers.find([subscription])).get(subscription)
      const isOpen = receiver !== undefined && (yield* mayReceive(account, host))
      const leased_until = now + leaseMillis
      yield* query((db) =>
        db
          .updateTable("callback_copy")
          .set(isOpen ? { leased_until } : { due: now + unverifiedMillis })
          .where("id", "=", id)
      )
      if (!isOpen) return "later" as const
      const { callbacks, isLast, through } = yield* callbacksOf(copy, host)
      const secrets = yield* Receivers.secretsOf(receiver, now)
      const held = { account, subscription, host, url, secrets, callbacks, full: !isLast, leasedUntil: leased_until }
      return { id, attempts, through, isLast, lease: held } satisfies LeasedCopy
    })
  )
})

/** Takes down what came of a lease; `charge` takes the price of what was accepted. */
export const advance = Effect.fn("CallbackCopies.advance")(function* (
  { id, isLast, lease: { callbacks }, through }: LeasedCopy,
  { accepted, failure }: Sent,
  charge: Charge | undefined
) {
  const { query, transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const sent = callbacks.slice(0, accepted)
  const hasAll = accepted === callbacks.length
  const after = hasAll ? through : sent.at(-1)?.sequence
  const failed = failure && {
    ...{ attempts: failure.attempts, error: failure.error.slice(0, maxError).replaceAll("\0", "") },
    ...(failure.due === undefined ? { stopped: 1 } : { due: failure.due })
  }
  yield* transaction(
    Effect.gen(function* () {
      if (charge !== undefined && sent.length > 0) yield* charge(sent)
      if (hasAll && isLast) {
        yield* query((db) => db.deleteFrom("callback_copy").where("id", "=", id))
        return
      }
      yield* query((db) =>
        db
          .updateTable("callback_copy")
          .set({
            ...(after === undefined ? {} : { after }),
            ...{ callbacks: sql<number>`callbacks + ${accepted}`, leased_until: 0 },
            ...(failed ?? { attempts: 0, error: null, due: now })
          })
          .where("id", "=", id)
      )
    })
  )
})
