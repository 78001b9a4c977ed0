/**
 * The daily charges: each day that is over, once for each account and chain, for the subscriptions that were active when
 * it was charged and had been made before it ended.
 *
 * What has been charged is in the store: an entry with its own key for each account, chain and day, and the last day
 * that is complete. Whoever is killed in the middle, or runs beside another process, charges only what is not there.
 */

import * as Ledger from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Database, DatabaseError } from "../../database/Database.ts"
import * as CallbackState from "../../subscriptions/CallbackState.ts"

/** What a run did. */
export interface Charged {
  readonly days: number
  readonly credits: number
  /** Subscriptions deactivated because their account could not pay. */
  readonly deactivated: number
}

/** Why a subscription is inactive that its account could not pay for. */
export const reason = "insufficient_credits"

interface Owed {
  readonly account: number
  readonly chain: number
  readonly name: string
  readonly count: number
}

/** What is paid for by the day: its price before the chain's multiplier, and the words for it in the ledger. */
interface Tariff {
  readonly price: number
  readonly key: "daily" | "daily-addresses"
  readonly detail: string
}

/** Takes the price of one day on one chain; undefined where that was done before, else how many were paid for. */
const take = (database: Database["Service"], tariff: Tariff, day: number, owed: Owed) =>
  database.transaction(
    Effect.gen(function* () {
      const { account, name } = owed
      const [blockchain, network] = name.split("/") as [string, string]
      const chain = yield* Effect.orDie(Effect.fromResult(Chain.find(blockchain, network)))
      const each = Ledger.onChain(tariff.price, chain)
      const entry_key = `${tariff.key}:${account}:${name}:${Ledger.dayText(day)}`
      const detail = `${name} ${Ledger.dayText(day)}${tariff.detail}`
      const at = yield* Clock.currentTimeMillis
      const [row] = yield* database.query((db) =>
        db
          .updateTable("credit_balance")
          .set({ balance: sql<number>`balance` })
          .where("account", "=", account)
          .returning("balance")
      )
      const paid = Ledger.affordable(row?.balance ?? 0, each, owed.count)
      const written = yield* database.query((db) =>
        db
          .insertInto("credit_entry")
          .values({ account, entry_key, at, kind: "daily", amount: 0 - each * paid, results: paid, detail })
          .onConflict((on) => on.column("entry_key").doNothing())
          .returning("id")
      )
      if (written.length === 0) return undefined
      yield* database.query((db) =>
        db
          .updateTable("credit_balance")
          .set({ balance: sql<number>`balance - ${each * paid}` })
          .where("account", "=", account)
      )
      return { paid, credits: each * paid }
    })
  )

/** Deactivates the newest subscriptions of an account on a chain. */
const deactivate = (database: Database["Service"], { account, chain }: Owed, count: number, before: number) =>
  database.transaction(
    Effect.gen(function* () {
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const [locked] = yield* database.query((db) =>
        db
          .updateTable("chain")
          .set({ revision: sql<number>`revision + 1` })
          .where("id", "=", chain)
          .returning("revision")
      )
      const changed = yield* database.query((db) =>
        db
          .updateTable("subscription")
          .set({
            active: 0,
            revision: locked!.revision,
            deactivation_reasons: JSON.stringify([{ reason, timestamp }])
          })
          .where("id", "in", (from) =>
            from
              .selectFrom("subscription")
              .select("id")
              .where("active", "=", 1)
              .where("account", "=", account)
              .where("chain", "=", chain)
              .where("created", "<", before)
              .orderBy("id", "desc")
              .limit(count)
          )
          .returning(["id", "host"])
      )
      yield* Effect.forEach(changed, CallbackState.park, { discard: true })
      return changed.length
    })
  )

const chargeDay = Effect.fnUntraced(function* (database: Database["Service"], rules: Ledger.Rules, day: number) {
  const before = Ledger.endOfDay(day) / 1000
  const owed = yield* database.query((db) =>
    db
      .selectFrom("subscription")
      .innerJoin("chain", "chain.id", "subscription.chain")
      .select(["subscription.account", "subscription.chain", "chain.name"])
      .select(sql<number>`count(*)`.as("count"))
      .where("subscription.active", "=", 1)
      .where("subscription.created", "<", before)
      .groupBy(["subscription.account", "subscription.chain", "chain.name"])
      .orderBy("subscription.account")
      .orderBy("subscription.chain")
  )
  let credits = 0
  let deactivated = 0
  const subscriptions: Tariff = { price: rules.subscriptionDay, key: "daily", detail: "" }
  for (const one of rules.subscriptionDay === 0 ? [] : owed) {
    const taken = yield* take(database, subscriptions, day, one)
    if (taken === undefined) continue
    credits += taken.credits
    const unpaid = one.count - taken.paid
    if (unpaid > 0) deactivated += yield* deactivate(database, one, unpaid, before)
  }
  // Addresses that an account asked to be synced; those that only fill a wallet's gap are not counted.
  const synced =
    rules.addressDay === 0
      ? []
      : yield* database.query((db) =>
          db
            .selectFrom("wallet_address")
            .innerJoin("wallet", "wallet.id", "wallet_address.wallet")
            .innerJoin("chain", "chain.id", "wallet.chain")
            .select(["wallet.account", "wallet.chain", "chain.name"])
            .select(sql<number>`count(*)`.as("count"))
            .where("wallet_address.requested", "<", before)
            .groupBy(["wallet.account", "wallet.chain", "chain.name"])
            .orderBy("wallet.account")
            .orderBy("wallet.chain")
        )
  const addresses: Tariff = { price: rules.addressDay, key: "daily-addresses", detail: " synced addresses" }
  for (const one of synced) {
    // What cannot be paid for stays synced: the account is asked again the next day.
    credits += (yield* take(database, addresses, day, one))?.credits ?? 0
  }
  yield* database.query((db) => db.updateTable("credit_day").set({ day }).where("id", "=", 1).where("day", "<", day))
  return { credits, deactivated }
})

export const charge = (database: Database["Service"], rules: Ledger.Rules): Effect.Effect<Charged, DatabaseError> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    // The day on which charging begins is the first that is charged.
    yield* database.query((db) =>
      db
        .insertInto("credit_day")
        .values({ id: 1, day: Ledger.dayOf(now) - 1 })
        .onConflict((on) => on.column("id").doNothing())
    )
    const [last] = yield* database.query((db) => db.selectFrom("credit_day").select("day").where("id", "=", 1))
    const days = Ledger.daysToCharge(last!.day, now)
    let credits = 0
    let deactivated = 0
    for (const day of days) {
      const charged = yield* chargeDay(database, rules, day)
      credits += charged.credits
      deactivated += charged.deactivated
    }
    return { days: days.length, credits, deactivated }
  })
