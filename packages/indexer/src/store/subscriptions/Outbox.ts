/**
 * The callbacks on their way out: who may send which next, and what came of it.
 *
 * A claim is a lease on one subscription's next callbacks, to be sent one after another in the order of the chain, or
 * on a single one that is sent again. Of the callbacks that were never sent, a subscription's oldest is leased as long
 * as any is: no other process sends a later one meanwhile. The subscription's row is locked while a claim is made, and
 * the callbacks get their numbers there. A claim that no outcome follows ends by itself, and what it held is sent
 * again under the same keys. Who has a subscription's claim may have the next one before it is settled: until then the
 * lease keeps everybody else away.
 *
 * Work is found host by host, by steps through an index that holds nothing else, so that the cost of finding it grows
 * with the number of hosts, not with their backlogs.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as AttemptLog from "./internal/AttemptLog.ts"
import * as Leases from "./internal/Leases.ts"
import * as Parked from "./Parked.ts"
import { HostPermission, Subscriptions } from "./Subscriptions.ts"

export type { Attempt } from "./internal/AttemptLog.ts"

/** One callback as it is sent. */
export interface Outgoing {
  readonly id: number
  readonly idempotencyKey: string
  /** Its number within the subscription. */
  readonly sequence: number
  readonly body: string
  /** Finished attempts so far. */
  readonly attempts: number
  readonly attemptLog: string
  /** Milliseconds since the Unix epoch. */
  readonly created: number
}

/** Callbacks of one subscription that are the claimant's to send, in this order, until the lease ends. */
export interface Claim {
  readonly subscription: number
  readonly host: string
  readonly url: string
  /** The subscription's secret, while a rotation lasts also the one before; empty where it has none. */
  readonly secrets: ReadonlyArray<string>
  readonly callbacks: ReadonlyArray<Outgoing>
  /** Whether it holds as many as it may: there may be more. */
  readonly full: boolean
  /** Milliseconds since the Unix epoch. */
  readonly leasedUntil: number
}

/** A claim that its claimant holds for a while yet: what comes after it is claimed before its outcomes are written. */
export interface Continued {
  readonly subscription: number
  /** The id of its last callback. */
  readonly after: number
  /** Callbacks that the next claim may hold. */
  readonly run: number
}

/** A host that there is room for, and how much: each claim takes one of `limit`. */
export interface Room {
  readonly host: string
  readonly limit: number
  /** These take none of `limit`, as long as nobody else waits for their places. */
  readonly continued: ReadonlyArray<Continued>
  /** Callbacks that a claim may hold. */
  readonly run: number
  /** The subscription that the host's last claim was for: the others have their turn first. */
  readonly after: number
  /** Whether callbacks that are sent again come before those that were never sent. */
  readonly retriesFirst: boolean
}

/** What came of a claimed callback. */
export type Outcome =
  | { readonly kind: "delivered"; readonly callback: Outgoing; readonly attempt: AttemptLog.Attempt }
  | { readonly kind: "retry"; readonly callback: Outgoing; readonly attempt: AttemptLog.Attempt; readonly due: number }
  /** No further attempt: the subscription is deactivated for this reason. */
  | {
      readonly kind: "refused"
      readonly callback: Outgoing
      readonly attempt: AttemptLog.Attempt
      readonly subscription: number
      readonly reason: string
    }
  /** It was not sent; somebody else may. */
  | { readonly kind: "unsent"; readonly callback: Outgoing }

export class Outbox extends Context.Service<
  Outbox,
  {
    /** Tells those who wait in this process that callbacks have become due. */
    readonly wake: Effect.Effect<void>
    /** An effect that waits for the next `wake` after this moment. */
    readonly nextWake: Effect.Effect<Effect.Effect<void>>
    /** Hosts that there is something to send to. */
    readonly hosts: Effect.Effect<ReadonlyArray<string>, DatabaseError>
    /** Takes what there is room for. */
    readonly claim: (
      rooms: ReadonlyArray<Room>,
      leaseMillis: number
    ) => Effect.Effect<ReadonlyArray<Claim>, DatabaseError>
    /** Writes outcomes down, all or none. */
    readonly settle: (outcomes: ReadonlyArray<Outcome>) => Effect.Effect<void, DatabaseError>
    /** Ends the leases of a process that is no more, where no other process can have any: on SQLite. */
    readonly endLeases: Effect.Effect<void, DatabaseError>
    /** Forgets what was delivered, taken back or expired, in small steps; how many callbacks that were. */
    readonly prune: Effect.Effect<number, DatabaseError>
    /** Gives up callbacks that have waited too long for the verification of their host; how many. */
    readonly expire: Effect.Effect<number, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.suspend(() => make)
  )
}

/** What takes the price of callbacks that were accepted, in the transaction that notes it; nothing does by default. */
export const CallbackCharging = Context.Reference<
  | ((
      sent: ReadonlyArray<{ readonly id: number; readonly subscription: number }>
    ) => Effect.Effect<void, DatabaseError>)
  | undefined
>("@headwater/indexer/store/subscriptions/Outbox/CallbackCharging", { defaultValue: () => undefined })

/** How long and how much is kept. */
export const Retention = Context.Reference("@headwater/indexer/store/subscriptions/Outbox/Retention", {
  defaultValue: () => ({
    /** Of what was delivered, taken back or expired, in milliseconds. */
    finishedMillis: 30 * 86_400_000,
    /** Of what waits for the verification of its host, in milliseconds and in callbacks a subscription. */
    heldMillis: 7 * 86_400_000,
    heldCount: 10_000
  })
})

/** A finished attempt, as columns. */
type Change = { readonly id: number } & Partial<Row<"callback">>

/** Rows read at a time when old ones are looked for. */
const page = 1000

const make = Effect.gen(function* () {
  const database = yield* Database
  const subscriptions = yield* Subscriptions
  const retention = yield* Retention
  const charge = yield* CallbackCharging
  const { numbers, query, read, transaction, updateEach } = database

  const chargeFor = Effect.fnUntraced(function* (delivered: ReadonlyArray<{ readonly id: number }>) {
    if (charge === undefined || delivered.length === 0) return
    const ids = delivered.map(({ id }) => id)
    yield* charge(yield* query((db) => db.selectFrom("callback").select(["id", "subscription"]).where("id", "in", ids)))
  })

  let signal = Deferred.makeUnsafe<void>()
  const wake = Effect.sync(() => {
    Deferred.doneUnsafe(signal, Effect.void)
    signal = Deferred.makeUnsafe<void>()
  })
  const nextWake = Effect.sync(() => Deferred.await(signal))

  const settle: Outbox["Service"]["settle"] = Effect.fnUntraced(function* (outcomes) {
    const now = yield* Clock.currentTimeMillis
    const delivered: Array<Change> = []
    const failed: Array<Change> = []
    const unsent: Array<Outgoing["id"]> = []
    const refused = new Map<number, string>()
    for (const outcome of outcomes) {
      const { attemptLog, attempts, id } = outcome.callback
      if (outcome.kind === "unsent") {
        unsent.push(id)
        continue
      }
      const changed = {
        id,
        attempts: attempts + 1,
        attempt_log: yield* AttemptLog.append(attemptLog, outcome.attempt)
      }
      if (outcome.kind === "delivered") {
        const { at, duration } = outcome.attempt
        delivered.push({ ...changed, delivered: at + duration })
      } else {
        // Its state is left as it is: the block or the subscription may have gone while it was sent.
        failed.push({ ...changed, due: outcome.kind === "retry" ? outcome.due : now })
        if (outcome.kind === "refused") refused.set(outcome.subscription, outcome.reason)
      }
    }
    const write = Effect.gen(function* () {
      for (const [subscription, reason] of refused) yield* subscriptions.deactivate(subscription, reason)
      yield* updateEach("callback", delivered, ["state = 'delivered'", "leased_until = 0"])
      yield* updateEach("callback", failed, ["leased_until = 0"])
      if (unsent.length > 0) {
        yield* query(rows(sql`update callback set leased_until = 0 where id in ${numbers(unsent)}`))
      }
      yield* chargeFor(delivered)
    })
    // Where all were delivered there is one statement, which is a transaction by itself.
    yield* delivered.length === outcomes.length && charge === undefined ? write : transaction(write)
  })

  const endLeases = Effect.forEach(
    database.exclusive ? [sql`attempts = 0`, sql`attempts > 0`] : [],
    (waiting) =>
      query(rows(sql`update callback set leased_until = 0 where state = 'due' and ${waiting} and leased_until > 0`)),
    { discard: true }
  )

  const prune = Effect.gen(function* () {
    const before = (yield* Clock.currentTimeMillis) - retention.finishedMillis
    let after = 0
    let count = 0
    while (true) {
      const found = yield* read(
        rows(sql<Pick<Row<"callback">, "id" | "state" | "created" | "delivered">>`
          select id, state, created, delivered from callback where id > ${after} order by id limit ${page}`)
      )
      const old = found.filter(
        ({ created, delivered, state }) => state !== "due" && state !== "held" && (delivered ?? created) < before
      )
      if (old.length > 0) {
        const ids = numbers(old.map(({ id }) => id))
        yield* query(
          rows(
            sql`delete from callback where id in ${ids} and state in ('delivered', 'orphaned', 'expired', 'retracted')`
          )
        )
      }
      count += old.length
      const last = found.at(-1)
      if (last === undefined || found.length < page || last.created >= before) return count
      after = last.id
      // Room for others between the steps.
      yield* Effect.sleep("10 millis")
    }
  })

  return Outbox.of({
    wake,
    nextWake,
    ...Leases.make(database, yield* HostPermission, retention),
    settle,
    endLeases,
    prune,
    expire: Effect.provideService(Parked.expire(retention), Database, database)
  })
})
