/**
 * The charges of requests. Those of one moment are paid together, in one transaction that locks each balance first:
 * requests that race for the last credits are paid in the order in which they came, until the balance is used up.
 */
import * as Credits from "@headwater/core/Credits"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Insertable } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import type { CreditEntryTable } from "../../database/tables/AccountTables.ts"
import * as CreditLedger from "./CreditLedger.ts"

/** The price of a call. */
export interface Charge {
  readonly account: number
  /** Unique: no two entries have the same. */
  readonly key: string
  /** Credits, zero or more. */
  readonly amount: number
  readonly results: number
  /** The operation. */
  readonly detail: string
}

interface Pending {
  readonly charge: Charge
  readonly done: Deferred.Deferred<number, InsufficientCredits | DatabaseError>
}

/** The charges of one moment by their accounts, always in one order: two processes never wait for each other's balances. */
type Group = ReadonlyArray<readonly [account: number, charges: ReadonlyArray<Pending>]>

const entryOf = (charge: Charge, at: number): Insertable<CreditEntryTable> => ({
  account: charge.account,
  entry_key: charge.key,
  at,
  kind: "request",
  amount: 0 - charge.amount,
  results: charge.results,
  detail: charge.detail
})

/** Takes a charge as a part of the surrounding transaction; the balance after that. */
export const chargeInTransaction = Effect.fnUntraced(function* (
  charge: Charge
): Effect.fn.Return<number, InsufficientCredits | DatabaseError, Database> {
  const { query } = yield* Database
  const at = yield* Clock.currentTimeMillis
  const left = yield* CreditLedger.take(charge.account, charge.amount)
  if (left === undefined && charge.amount > 0) {
    const available = yield* CreditLedger.lock(charge.account)
    return yield* new InsufficientCredits({ available, wanted: charge.amount })
  }
  yield* query((db) => db.insertInto("credit_entry").values(entryOf(charge, at)))
  return left ?? 0
})

/** Gives a charge back, once however often that is asked for; the balance after that. */
export const giveBack = Effect.fnUntraced(function* (
  charge: Charge
): Effect.fn.Return<number, DatabaseError, Database> {
  const { transaction } = yield* Database
  const at = yield* Clock.currentTimeMillis
  const returned = { ...charge, key: `${charge.key}:returned`, amount: 0 - charge.amount, results: 0 }
  return yield* transaction(
    Effect.gen(function* () {
      const balance = yield* CreditLedger.lock(charge.account)
      if (!(yield* CreditLedger.enter(entryOf(returned, at)))) return balance
      yield* CreditLedger.add(charge.account, charge.amount)
      return balance + charge.amount
    })
  )
})

/** How each of one account's charges ends: those that are not paid left the balance as it was. */
const ends = (charges: ReadonlyArray<Pending>, paid: ReadonlyArray<boolean>, before: number) => {
  let left = before
  return charges.map(({ charge, done }, i) => {
    if (!paid[i]) {
      return Deferred.fail(done, new InsufficientCredits({ available: left, wanted: charge.amount }))
    }
    left -= charge.amount
    return Deferred.succeed(done, left)
  })
}

/** Pays as many of one account's charges as its balance allows, in the surrounding transaction. */
const payAccount = Effect.fnUntraced(function* (account: number, charges: ReadonlyArray<Pending>, at: number) {
  const { insertMany } = yield* Database
  const before = yield* CreditLedger.lock(account)
  const { balance, paid } = Credits.settle(
    before,
    charges.map(({ charge }) => charge.amount)
  )
  if (balance !== before) yield* CreditLedger.add(account, balance - before)
  yield* insertMany(
    "credit_entry",
    charges.filter((_, i) => paid[i]).map(({ charge }) => entryOf(charge, at))
  )
  return ends(charges, paid, before)
})

const payInTransaction = Effect.fnUntraced(function* (group: Group, at: number) {
  const { transaction } = yield* Database
  const paid = yield* transaction(Effect.forEach(group, ([account, charges]) => payAccount(account, charges, at)))
  return paid.flat()
})

/** The statements of `payInBatch`; the columns are in the order of `entryOf`. */
const takeStatement = `update credit_balance set balance = balance - ? where account = ? and balance >= ? returning balance`
const enterStatement = `insert into credit_entry (account, entry_key, at, kind, amount, results, detail)
  values (?, ?, ?, ?, ?, ?, ?)`

/**
 * As `payInTransaction`, in one message to the store; undefined, with nothing done, where an account cannot pay or the
 * store takes no such message.
 */
const payInBatch = Effect.fnUntraced(function* (group: Group, at: number) {
  const { batch } = yield* Database
  const wanted = group.map(([, charges]) => charges.reduce((sum, { charge }) => sum + charge.amount, 0))
  const entries = group.flatMap(([, charges]) => charges.map(({ charge }) => Object.values(entryOf(charge, at))))
  const [balances] = yield* batch([
    { sql: takeStatement, rows: group.map(([account], i) => [wanted[i], account, wanted[i]]) },
    { sql: enterStatement, rows: entries }
  ])
  if (balances === undefined) return undefined
  return group.flatMap(([, charges], i) => {
    const { balance } = balances[i] as { readonly balance: number }
    return ends(
      charges,
      charges.map(() => true),
      balance + wanted[i]!
    )
  })
})

const payAll = Effect.fnUntraced(
  function* (pending: ReadonlyArray<Pending>) {
    const at = yield* Clock.currentTimeMillis
    const group = [...Map.groupBy(pending, ({ charge }) => charge.account)].sort(([a], [b]) => a - b)
    const paid = yield* payInBatch(group, at)
    yield* Effect.all(paid ?? (yield* payInTransaction(group, at)), { discard: true })
  },
  (effect, pending) =>
    Effect.catch(effect, (error) =>
      Effect.forEach(pending, ({ done }) => Deferred.fail(done, error), { discard: true })
    )
)

/** Pays charges as long as the scope is open; each one's end is the balance after it was written down. */
export const make: Effect.Effect<
  (charge: Charge) => Effect.Effect<number, InsufficientCredits | DatabaseError>,
  never,
  Database | Scope.Scope
> = Effect.gen(function* () {
  const pending = yield* Queue.unbounded<Pending>()

  // Those that come in the same turn of the event loop as the first are paid with it.
  yield* Queue.peek(pending).pipe(
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(Queue.takeAll(pending)),
    Effect.flatMap(payAll),
    Effect.forever,
    Effect.forkScoped
  )

  return (charge) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<number, InsufficientCredits | DatabaseError>()
      return Effect.andThen(Queue.offer(pending, { charge, done }), Deferred.await(done))
    })
})

/** The balance is too small for the charge: nothing was taken. */
export class InsufficientCredits extends Schema.TaggedError<InsufficientCredits>()("InsufficientCredits", {
  available: Schema.Int,
  wanted: Schema.Int
}) {
  override get message() {
    return `${this.wanted} credits are wanted, ${this.available} are left`
  }
}
