/**
 * Callbacks that are sent again in bulk: everything that a subscription was told since a number or a time, after a receiver
 * has lost what it had. The order of the feed is kept; steps write some at a time, one subscription after another, and none
 * while as many callbacks of the account wait as may be, or while the subscription is inactive. A kill between any two steps loses nothing.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Limits } from "../accounts/Limits.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as PastCallbacks from "./internal/PastCallbacks.ts"
import * as WaitingCallbacks from "./WaitingCallbacks.ts"

/** What is sent again; without either everything that is kept. */
export interface Since {
  /** The number of the last callback that is not. */
  readonly after?: number | undefined
  /** Callbacks of events that were recorded at this time or later, in milliseconds since the Unix epoch. */
  readonly time?: number | undefined
}

/** How far a recovery is: numbers of a subscription's callbacks. */
export interface Recovery {
  /** The last one that has been looked at. */
  readonly after: number
  /** The last one that is to be. */
  readonly last: number
  /** How many are sent again so far. */
  readonly callbacks: number
}

const recoveryOf = ({ after, callbacks, last }: Row<"recovery">): Recovery => ({ after, callbacks, last })

/** How far the recovery of a subscription is; undefined where there is none. */
export const of = Effect.fnUntraced(function* (subscription: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) => db.selectFrom("recovery").selectAll().where("subscription", "=", subscription))
  return row === undefined ? undefined : recoveryOf(row)
})

/**
 * Begins a recovery, in a transaction that has the lock of the subscription. One that is asked for beside another goes on from
 * where the first of the two has to.
 */
export const begin = Effect.fnUntraced(function* (
  { account, id, last_sequence }: Pick<Row<"subscription">, "id" | "account" | "last_sequence">,
  since: Since
) {
  const { query } = yield* Database
  const [before] = yield* query((db) => db.selectFrom("recovery").selectAll().where("subscription", "=", id))
  const after = Math.min(since.after ?? 0, before?.after ?? Number.POSITIVE_INFINITY)
  const row = {
    ...{ subscription: id, account, after, last: last_sequence },
    ...{
      since: Math.min(since.time ?? 0, before?.since ?? Number.POSITIVE_INFINITY),
      callbacks: before?.callbacks ?? 0
    }
  }
  const { subscription: _, ...changed } = row
  yield* query((db) =>
    db
      .insertInto("recovery")
      .values(row)
      .onConflict((on) => on.column("subscription").doUpdateSet(changed))
  )
  return recoveryOf(row)
})

/** Subscriptions whose recoveries one transaction begins. */
const begunAtOnce = 100

/** Which subscriptions of an account: of all hosts and chains, where none is named. */
export interface Which {
  readonly host?: string | undefined
  readonly chain?: Chain | undefined
  readonly time?: number | undefined
}

/**
 * Begins the recoveries of all subscriptions of an account, or of those that go to one host or are of one chain; of how many.
 * `also` is done in the first transaction.
 */
export const beginAll = Effect.fn("Recovery.beginAll")(function* (
  account: number,
  { chain, host, time }: Which,
  also: Effect.Effect<void, DatabaseError> = Effect.void
) {
  const { forUpdate, query, transaction } = yield* Database
  const onChain = chain === undefined ? undefined : ((yield* ChainRow.find(chain))?.id ?? -1)
  const next = (after: number) =>
    Effect.gen(function* () {
      const found = yield* query(
        rows(sql<Pick<Row<"subscription">, "id" | "account" | "last_sequence">>`
          select id, account, last_sequence from subscription
          where account = ${account} and id > ${after} ${host === undefined ? sql`` : sql`and host = ${host}`}
            ${onChain === undefined ? sql`` : sql`and chain = ${onChain}`}
          order by id limit ${begunAtOnce} ${forUpdate}`)
      )
      yield* Effect.forEach(found, (one) => begin(one, { time }), { discard: true })
      return found
    })
  let [after, begun] = [-1, 0]
  while (true) {
    const found = yield* transaction(Effect.tap(next(after), after === -1 ? also : Effect.void))
    begun += found.length
    if (found.length < begunAtOnce) return begun
    after = found.at(-1)!.id
  }
})

/** Recoveries of active subscriptions that are under way: those of inactive ones wait for their activation. */
const running = sql`
  from recovery join subscription on subscription.id = recovery.subscription and subscription.active = 1`

/** How many subscriptions of an account have recoveries that are under way, and how many numbers are left of them. */
export const leftOf = Effect.fn("Recovery.leftOf")(function* (account: number) {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<{ readonly subscriptions: number; readonly left: number | null }>`
      select count(*) as subscriptions, sum(recovery.last - recovery.after) as "left" ${running}
      where recovery.account = ${account}`)
  )
  return { subscriptions: Number(row!.subscriptions), left: Number(row!.left ?? 0) }
})

/** Recoveries and accounts that are shown together. */
const [shownAtMost, accountsAtMost] = [10_000, 100]

/** The recoveries that are under way, by the name of their account, as {@link leftOf}; of some, where they are very many. */
export const underWay = Effect.fn("Recovery.underWay")(function* () {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ readonly account: string; readonly subscriptions: number; readonly left: number }>`
      select account.name as account, count(*) as subscriptions, sum(shown.last - shown.after) as "left"
      from (
        select recovery.account, recovery.last, recovery.after ${running}
        order by recovery.subscription limit ${shownAtMost}
      ) shown
      join account on account.id = shown.account
      group by account.name order by account.name limit ${accountsAtMost}`)
  )
  return found.map(({ account, left, subscriptions }) => ({
    ...{ account, subscriptions: Number(subscriptions), left: Number(left) }
  }))
})

/** Sends some callbacks of a recovery again, in a transaction. */
const some = Effect.fnUntraced(function* (subscription: number) {
  const { forUpdate, numbers, query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const [owner] = yield* query(
    rows(sql<Pick<Row<"subscription">, "active">>`
      select active from subscription where id = ${subscription} ${forUpdate}`)
  )
  const [recovery] = yield* query((db) =>
    db.selectFrom("recovery").selectAll().where("subscription", "=", subscription)
  )
  const end = query((db) => db.deleteFrom("recovery").where("subscription", "=", subscription))
  if (recovery === undefined) return
  if (owner?.active !== 1) return
  const { after, last, since } = recovery
  const found = yield* query(
    rows(sql<Pick<Row<"callback">, "id" | "event" | "sequence" | "created" | "leased_until">>`
      select id, event, sequence, created, leased_until from every_callback
      where subscription = ${subscription} and sequence > ${after} and sequence <= ${last}
      order by sequence limit ${SmallSteps.callbacksAtOnce}`)
  )
  // What is leased is being sent at this moment; what only the feed tells is sent to nobody.
  const wanted = found.filter(
    ({ created, event, leased_until }) => created >= since && leased_until <= now && !Callback.feedEvents.has(event)
  )
  const which = sql`id in ${numbers(wanted.map(({ id }) => id))}`
  yield* PastCallbacks.recall(which)
  yield* CallbackState.apply("redeliver", which, { due: now })
  if (found.length < SmallSteps.callbacksAtOnce) return yield* Effect.asVoid(end)
  yield* query((db) =>
    db
      .updateTable("recovery")
      .set({ after: found.at(-1)!.sequence!, callbacks: recovery.callbacks + wanted.length })
      .where("subscription", "=", subscription)
  )
})

/** Steps through the recoveries of all accounts, each with its turn; those of an account that is full are passed over. */
export const make = Effect.gen(function* () {
  const { waitingCallbacks } = yield* Limits
  const startOfRound = () => ({ last: -1, full: [] as ReadonlyArray<number>, hasWorked: false })
  let round = startOfRound()
  const next = Effect.fnUntraced(function* () {
    const { numbers, read } = yield* Database
    // SQLite begins a cross join with its first table: in another order it reads every subscription to find no recovery.
    const [found] = yield* read(
      rows(sql<Pick<Row<"recovery">, "subscription" | "account">>`
        select recovery.subscription, recovery.account from recovery cross join subscription
        where subscription.id = recovery.subscription and recovery.subscription > ${round.last}
        and subscription.active = 1 and recovery.account not in ${numbers(round.full)}
        order by recovery.subscription limit 1`)
    )
    return found
  })
  return {
    /** Sends some callbacks of the next recovery again; whether there may be more to do now. */
    step: Effect.fn("Recovery.step")(function* () {
      const { transaction } = yield* Database
      let recovery = yield* next()
      if (recovery === undefined) {
        const { hasWorked } = round
        round = startOfRound()
        recovery = hasWorked ? yield* next() : undefined
        if (recovery === undefined) return false
      }
      const { account, subscription } = recovery
      const isFull = yield* transaction(
        Effect.tap(WaitingCallbacks.isFull(account, waitingCallbacks), (isFull) =>
          isFull ? Effect.void : some(subscription)
        )
      )
      const full = isFull ? [...round.full, account] : round.full
      round = { last: subscription, full, hasWorked: round.hasWorked || !isFull }
      return true
    })
  }
})
