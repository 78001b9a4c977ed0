/**
 * The credit ledger: append-only entries, and each account's balance, which is always their sum.
 *
 * Charges of one moment are written together, in one transaction that locks each balance before it pays: requests that
 * race for the last credits are paid in the order in which they came, until the balance is used up.
 */

import * as Ledger from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { type Insertable, sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { prepared } from "../database/Prepared.ts"
import type { CreditEntryTable, CreditKind, Row } from "../database/Tables.ts"
import * as Daily from "./internal/DailyCharges.ts"

export interface CreditEntry {
  readonly id: number
  readonly key: string
  readonly kind: CreditKind
  /** Negative where credits were consumed. */
  readonly amount: number
  readonly results: number
  readonly detail: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** What a call is to pay. */
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

/** The balance is too small for the charge: nothing was taken. */
export class InsufficientCredits extends Schema.TaggedError<InsufficientCredits>()("InsufficientCredits", {
  available: Schema.Int,
  wanted: Schema.Int
}) {
  override get message() {
    return `${this.wanted} credits are wanted, ${this.available} are left`
  }
}

/** An entry with this key exists. */
export class DuplicateEntry extends Schema.TaggedError<DuplicateEntry>()("DuplicateEntry", { key: Schema.String }) {
  override get message() {
    return `The ledger has an entry "${this.key}" already`
  }
}

/** The operator's rules of charging. */
export const CreditRules = Context.Reference<Ledger.Rules>("@headwater/indexer/store/accounts/Credits/CreditRules", {
  defaultValue: () => Ledger.defaultRules
})

export class Credits extends Context.Service<
  Credits,
  {
    readonly balance: (account: number) => Effect.Effect<number, DatabaseError>
    /** Adds credits and gives the new balance. A key that the caller chooses makes sure that it is done once. */
    readonly grant: (grant: {
      readonly account: number
      readonly amount: number
      readonly detail: string
      readonly key?: string | undefined
    }) => Effect.Effect<number, DuplicateEntry | DatabaseError>
    /** Entries of an account, from the one after `after` on, newest or oldest first. */
    readonly statement: (
      account: number,
      page: { readonly limit: number; readonly newestFirst: boolean; readonly after: number | undefined }
    ) => Effect.Effect<ReadonlyArray<CreditEntry>, DatabaseError>
    /** Takes credits and gives what is left; done when it is written down. */
    readonly charge: (charge: Charge) => Effect.Effect<number, InsufficientCredits | DatabaseError>
    /** As `charge`, as a part of the surrounding transaction: it is taken if that commits. */
    readonly chargeWithin: (charge: Charge) => Effect.Effect<number, InsufficientCredits | DatabaseError>
    /** In the transaction that notes that callbacks were sent: takes their price, at most what is left. */
    readonly chargeCallbacks: (
      sent: ReadonlyArray<{ readonly id: number; readonly subscription: number }>
    ) => Effect.Effect<void, DatabaseError>
    /**
     * Takes what is owed for the days that are over, each day once however often it is run. Subscriptions that an
     * account cannot pay for are deactivated, the newest first.
     */
    readonly chargeDays: Effect.Effect<Daily.Charged, DatabaseError>
  }
>()("@headwater/indexer/store/accounts/Credits") {
  static readonly layer = Layer.effect(
    Credits,
    Effect.suspend(() => make)
  )

  /**
   * Charges the days that are over, at the start and whenever another one is. It looks at the clock instead of sleeping
   * until midnight: a machine that was suspended is charged for when it wakes.
   */
  static readonly daily = Layer.effectDiscard(
    Effect.gen(function* () {
      const { chargeDays } = yield* Credits
      yield* chargeDays.pipe(
        Effect.tap(({ credits, days, deactivated }) =>
          days === 0
            ? Effect.void
            : Effect.logInfo(`Charged ${credits} credits for ${days} days, deactivated ${deactivated} subscriptions`)
        ),
        Effect.catchCause((cause) => Effect.logError("Daily charges failed, tried again in a minute", cause)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.forkScoped
      )
    })
  )
}

const toEntry = (row: Row<"credit_entry">): CreditEntry => ({
  id: row.id,
  key: row.entry_key,
  kind: row.kind,
  amount: row.amount,
  results: row.results,
  detail: row.detail,
  at: row.at
})

/** What `inOneMessage` runs; the columns are in the order of `entryOf`. */
const takeStatement = `update credit_balance set balance = balance - ? where account = ? and balance >= ? returning balance`
const enterStatement = `insert into credit_entry (account, entry_key, at, kind, amount, results, detail)
  values (?, ?, ?, ?, ?, ?, ?)`

interface Pending {
  readonly charge: Charge
  readonly done: Deferred.Deferred<number, InsufficientCredits | DatabaseError>
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const rules = yield* CreditRules
  const pending = yield* Queue.unbounded<Pending>()

  const entryOf = (charge: Charge, at: number): Insertable<CreditEntryTable> => ({
    account: charge.account,
    entry_key: charge.key,
    at,
    kind: "request",
    amount: 0 - charge.amount,
    results: charge.results,
    detail: charge.detail
  })

  /** The balance, locked until the surrounding transaction ends. */
  const locked = (account: number) =>
    Effect.map(
      database.query((db) =>
        db
          .updateTable("credit_balance")
          .set({ balance: sql<number>`balance` })
          .where("account", "=", account)
          .returning("balance")
      ),
      ([row]) => row?.balance ?? 0
    )

  const add = (account: number, amount: number) =>
    database.query((db) =>
      db
        .updateTable("credit_balance")
        .set({ balance: sql<number>`balance + ${amount}` })
        .where("account", "=", account)
    )

  const balanceOf = prepared((db, account: number) =>
    db.selectFrom("credit_balance").select("balance").where("account", "=", account)
  )

  const balance: Credits["Service"]["balance"] = (account) =>
    Effect.map(database.read(balanceOf(account)), ([row]) => row?.balance ?? 0)

  const taking = prepared((db, amount: number, account: number, atLeast: number) =>
    db
      .updateTable("credit_balance")
      .set({ balance: sql<number>`balance - ${amount}` })
      .where("account", "=", account)
      .where("balance", ">=", atLeast)
      .returning("balance")
  )

  /** Takes an amount if it is there; the balance after it. */
  const take = (account: number, amount: number) =>
    Effect.map(database.query(taking(amount, account, amount)), ([row]) => row?.balance)

  const grant: Credits["Service"]["grant"] = Effect.fn("Credits.grant")(function* ({ account, amount, detail, key }) {
    const at = yield* Clock.currentTimeMillis
    const entry_key = key ?? (yield* Effect.sync(() => `grant:${crypto.randomUUID()}`))
    return yield* database.transaction(
      Effect.gen(function* () {
        const written = yield* database.query((db) =>
          db
            .insertInto("credit_entry")
            .values({ account, entry_key, at, kind: "grant", amount, results: 1, detail })
            .onConflict((on) => on.column("entry_key").doNothing())
            .returning("id")
        )
        if (written.length === 0) return yield* new DuplicateEntry({ key: entry_key })
        const [row] = yield* database.query((db) =>
          db
            .insertInto("credit_balance")
            .values({ account, balance: amount })
            .onConflict((on) =>
              on.column("account").doUpdateSet({ balance: sql<number>`credit_balance.balance + ${amount}` })
            )
            .returning("balance")
        )
        return row!.balance
      })
    )
  })

  const statement: Credits["Service"]["statement"] = Effect.fn("Credits.statement")(function* (account, page) {
    const { after, limit, newestFirst } = page
    const rows = yield* database.read((db) => {
      const entries = db.selectFrom("credit_entry").selectAll().where("account", "=", account)
      return (after === undefined ? entries : entries.where("id", newestFirst ? "<" : ">", after))
        .orderBy("id", newestFirst ? "desc" : "asc")
        .limit(limit)
    })
    return rows.map(toEntry)
  })

  const chargeWithin: Credits["Service"]["chargeWithin"] = Effect.fnUntraced(function* (charge) {
    const at = yield* Clock.currentTimeMillis
    const left = yield* take(charge.account, charge.amount)
    if (left === undefined && charge.amount > 0) {
      return yield* new InsufficientCredits({ available: yield* locked(charge.account), wanted: charge.amount })
    }
    yield* database.query((db) => db.insertInto("credit_entry").values(entryOf(charge, at)))
    return left ?? 0
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

  /** Pays what it can of one account's charges, in the surrounding transaction. */
  const pay = Effect.fnUntraced(function* (account: number, charges: ReadonlyArray<Pending>, at: number) {
    const before = yield* locked(account)
    const { balance, paid } = Ledger.settle(
      before,
      charges.map(({ charge }) => charge.amount)
    )
    if (balance !== before) yield* add(account, balance - before)
    yield* database.insertMany(
      "credit_entry",
      charges.filter((_, i) => paid[i]).map(({ charge }) => entryOf(charge, at))
    )
    return ends(charges, paid, before)
  })

  type Batch = ReadonlyArray<readonly [account: number, charges: ReadonlyArray<Pending>]>

  const inTransaction = (batch: Batch, at: number) =>
    Effect.map(database.transaction(Effect.forEach(batch, ([account, charges]) => pay(account, charges, at))), (ends) =>
      ends.flat()
    )

  /**
   * As `inTransaction`, in one message to the store; undefined, with nothing done, where somebody cannot pay or the
   * store takes no such message.
   */
  const inOneMessage = Effect.fnUntraced(function* (batch: Batch, at: number) {
    const wanted = batch.map(([, charges]) => charges.reduce((sum, { charge }) => sum + charge.amount, 0))
    const entries = batch.flatMap(([, charges]) => charges.map(({ charge }) => Object.values(entryOf(charge, at))))
    const [balances] = yield* database.batch([
      { sql: takeStatement, rows: batch.map(([account], i) => [wanted[i], account, wanted[i]]) },
      { sql: enterStatement, rows: entries }
    ])
    if (balances === undefined) return undefined
    return batch.flatMap(([, charges], i) => {
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
      // Always in one order, so that two processes never wait for each other's balances.
      const batch = [...Map.groupBy(pending, ({ charge }) => charge.account)].sort(([a], [b]) => a - b)
      const quick = yield* inOneMessage(batch, at)
      yield* Effect.all(quick ?? (yield* inTransaction(batch, at)), { discard: true })
    },
    (effect, pending) =>
      Effect.catch(effect, (error) =>
        Effect.forEach(pending, ({ done }) => Deferred.fail(done, error), { discard: true })
      )
  )

  // Those that come in the same turn of the event loop as the first are paid with it.
  yield* Queue.peek(pending).pipe(
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(Queue.takeAll(pending)),
    Effect.flatMap(payAll),
    Effect.forever,
    Effect.forkScoped
  )

  const charge: Credits["Service"]["charge"] = Effect.fnUntraced(function* (charge) {
    const done = Deferred.makeUnsafe<number, InsufficientCredits | DatabaseError>()
    yield* Queue.offer(pending, { charge, done })
    return yield* Deferred.await(done)
  })

  const chargeCallbacks: Credits["Service"]["chargeCallbacks"] = Effect.fnUntraced(function* (sent) {
    if (rules.callback === 0 || sent.length === 0) return
    const at = yield* Clock.currentTimeMillis
    const ids = [...new Set(sent.map(({ subscription }) => subscription))]
    const rows = yield* database.query((db) =>
      db
        .selectFrom("subscription")
        .innerJoin("chain", "chain.id", "subscription.chain")
        .select(["subscription.id", "subscription.account", "chain.name"])
        .where("subscription.id", "in", ids)
    )
    const places = new Map(rows.map((row) => [row.id, row]))
    const groups = Map.groupBy(
      sent.filter(({ subscription }) => places.has(subscription)),
      ({ subscription }) => `${places.get(subscription)!.account} ${places.get(subscription)!.name}`
    )
    const charges = [...groups.values()].map((callbacks) => {
      const { account, name } = places.get(callbacks[0]!.subscription)!
      const first = Math.min(...callbacks.map(({ id }) => id))
      return { account, name, first, results: callbacks.length }
    })
    for (const { account, first, name, results } of charges.sort((a, b) => a.account - b.account)) {
      const [blockchain, network] = name.split("/") as [string, string]
      const chain = yield* Effect.orDie(Effect.fromResult(Chain.find(blockchain, network)))
      const wanted = Ledger.onChain(rules.callback, chain) * results
      // They are sent already: an account that has less pays what it has.
      const amount = Math.min(wanted, yield* locked(account))
      if (amount === 0) continue
      yield* add(account, -amount)
      const entry_key = `callback:${first}:${at}`
      yield* database.query((db) =>
        db
          .insertInto("credit_entry")
          .values({ account, entry_key, at, kind: "callback", amount: -amount, results, detail: name })
      )
    }
  })

  return Credits.of({
    balance,
    grant,
    statement,
    charge,
    chargeWithin,
    chargeCallbacks,
    chargeDays: Daily.charge(database, rules)
  })
})
