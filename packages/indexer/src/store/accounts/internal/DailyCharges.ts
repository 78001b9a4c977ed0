/**
 * The daily charges: each day that is over, once for each account and chain, for the subscriptions that were active when
 * it was charged and had been made before it ended.
 *
 * The store knows how much of that is done: an entry with its own key for each account, chain and day, and the last day
 * that is complete. A process that was killed in the middle, or runs beside another, charges only what is not there.
 */
import * as Credits from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import * as ProvenTime from "../../chain/ProvenTime.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import type { Tables } from "../../database/Tables.ts"
import * as BroadcastSubscription from "../../subscriptions/BroadcastSubscription.ts"
import * as Deactivation from "../../subscriptions/Deactivation.ts"
import * as CreditLedger from "./CreditLedger.ts"

/** The sums of one run. */
export interface Charged {
  readonly days: number
  readonly credits: number
  /** Subscriptions deactivated because their account could not pay. */
  readonly deactivated: number
}

/** Why a subscription is inactive that its account could not pay for. */
const reason = "insufficient_credits"

/** An account on a chain. */
interface Owner {
  readonly account: number
  readonly chain: number
  readonly name: string
}

/** With its subscriptions, or its synced addresses, there. */
interface Owed extends Owner {
  readonly count: number
}

/** The price of a day before the chain's multiplier, and its words in the ledger. */
interface Tariff {
  readonly price: number
  readonly key: "daily" | "daily-addresses"
  readonly detail: string
}

const priceOf = Effect.fnUntraced(function* (tariff: Tariff, name: string) {
  const [blockchain, network] = name.split("/") as [string, string]
  const chain = yield* Effect.orDie(Effect.fromResult(Chain.find(blockchain, network)))
  return Credits.onChain(tariff.price, chain)
})

const entryKeyOf = (tariff: Tariff, day: number, { account, name }: Pick<Owed, "account" | "name">) =>
  `${tariff.key}:${account}:${name}:${Credits.dayText(day)}`

/** Takes the price of one day on one chain; undefined where that was done before, else how many were paid for. */
const take = Effect.fnUntraced(function* (tariff: Tariff, day: number, { account, count, name }: Owed) {
  const { transaction } = yield* Database
  const each = yield* priceOf(tariff, name)
  const entry_key = entryKeyOf(tariff, day, { account, name })
  const detail = `${name} ${Credits.dayText(day)}${tariff.detail}`
  const at = yield* Clock.currentTimeMillis
  return yield* transaction(
    Effect.gen(function* () {
      const paid = Credits.affordable(yield* CreditLedger.lock(account), each, count)
      const entry = { account, entry_key, at, amount: 0 - each * paid, results: paid, detail }
      if (!(yield* CreditLedger.enter({ ...entry, kind: "daily" }))) return undefined
      yield* CreditLedger.add(account, entry.amount)
      return { paid, credits: each * paid }
    })
  )
})

/** The active subscriptions of an account on a chain that were made before a time in seconds. */
const activeBefore = (db: Kysely<Tables>, { account, chain }: Owner, before: number) =>
  db
    .selectFrom("subscription")
    .where("active", "=", 1)
    .where(BroadcastSubscription.isNone)
    .where("account", "=", account)
    .where("chain", "=", chain)
    .where("created", "<", before)

/** Deactivates the newest of them; how many. */
const deactivate = (owner: Owner, count: number, before: number) =>
  Deactivation.deactivate(owner.chain, reason, (db) =>
    activeBefore(db, owner, before).select("id").orderBy("id", "desc").limit(count)
  )

/** Subscriptions that one transaction deactivates. */
const atOnce = 100

/** More subscriptions than an account can have. */
const beyondAll = 1_000_000_000

/** How many there are; `most` where more. */
const countBefore = Effect.fnUntraced(function* (owner: Owner, before: number, most: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom(activeBefore(db, owner, before).select(sql<number>`1`.as("one")).limit(most).as("counted"))
      .select(sql<number>`count(*)`.as("count"))
  )
  return row!.count
})

/**
 * Takes the price of an account's subscriptions on a chain for one day. Those that are not paid for are deactivated
 * first, in steps: a price that was taken before is not looked at again, and a process that was killed between goes on
 * with those that are left. Each step counts them again: between two of them another process, or the account, may have
 * deactivated some.
 *
 * A step that deactivates, and with that changes callbacks, locks no balance: who notes that callbacks were sent locks
 * the balance behind them.
 */
const chargeSubscriptions = Effect.fnUntraced(function* (tariff: Tariff, day: number, owner: Owner) {
  const { transaction } = yield* Database
  const each = yield* priceOf(tariff, owner.name)
  const before = Credits.endOfDay(day) / 1000
  let credits = 0
  let deactivated = 0
  /** How many are active, and how many of them the balance pays for; no more are counted than a step has to know of. */
  const counted = Effect.fnUntraced(function* (balance: number) {
    const affordable = Credits.affordable(balance, each, beyondAll)
    return { affordable, count: yield* countBefore(owner, before, affordable + atOnce + 1) }
  })
  /** Deactivates some, or takes the price; what is left to do then. */
  const one = Effect.gen(function* () {
    // The chain before the balance, as a request that changes subscriptions and pays for the change.
    yield* ChainRow.lock(owner.chain)
    if (yield* CreditLedger.has(entryKeyOf(tariff, day, owner))) return "done"
    const { affordable, count } = yield* counted(yield* CreditLedger.present(owner.account))
    if (count === 0) return "done"
    if (count > affordable) {
      deactivated += yield* deactivate(owner, Math.min(count - affordable, atOnce), before)
      return count - affordable > atOnce ? "many" : "some"
    }
    const paid = yield* counted(yield* CreditLedger.lock(owner.account))
    // Callbacks were charged meanwhile.
    if (paid.count > paid.affordable) return "some"
    credits = (yield* take(tariff, day, { ...owner, count: paid.count }))?.credits ?? 0
    return "done"
  })
  const step: Effect.Effect<boolean, DatabaseError, Database> = Effect.flatMap(transaction(one), (left) =>
    left === "some" ? step : Effect.succeed(left === "many")
  )
  yield* SmallSteps.whileMore(step)
  return { credits, deactivated }
})

/** Accounts with subscriptions, chain by chain. */
const owners = Effect.gen(function* () {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("subscription_count")
      .innerJoin("chain", "chain.id", "subscription_count.chain")
      .select(["account", "chain", "chain.name"])
      .where("total", ">", 0)
      .orderBy("account")
      .orderBy("chain")
  )
})

/**
 * Addresses that accounts asked to be synced before a time in seconds, by themselves or in wallets; those that only fill
 * a wallet's gap are free.
 */
const syncedBefore = Effect.fnUntraced(function* (before: number) {
  const { query } = yield* Database
  const single = yield* query((db) =>
    db
      .selectFrom("synced_address")
      .innerJoin("chain", "chain.id", "synced_address.chain")
      .select(["synced_address.account", "synced_address.chain", "chain.name"])
      .select(sql<number>`count(*)`.as("count"))
      .where("synced_address.active", "=", 1)
      .where("synced_address.created", "<", before)
      .groupBy(["synced_address.account", "synced_address.chain", "chain.name"])
  )
  const ofWallets = yield* query((db) =>
    db
      .selectFrom("wallet_address")
      .innerJoin("wallet", "wallet.id", "wallet_address.wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(["wallet.account", "wallet.chain", "chain.name"])
      .select(sql<number>`count(*)`.as("count"))
      .where("wallet.active", "=", 1)
      .where("wallet_address.requested", "<", before)
      .groupBy(["wallet.account", "wallet.chain", "chain.name"])
  )
  const byOwner = Map.groupBy([...single, ...ofWallets], ({ account, chain }) => `${account} ${chain}`)
  return [...byOwner.values()]
    .map((owed): Owed => ({ ...owed[0]!, count: owed.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => a.account - b.account || a.chain - b.chain)
})

const chargeDay = Effect.fnUntraced(function* ({ addressDay, subscriptionDay }: Credits.Rules, day: number) {
  const { query } = yield* Database
  const before = Credits.endOfDay(day) / 1000
  let credits = 0
  let deactivated = 0
  const subscriptions: Tariff = { price: subscriptionDay, key: "daily", detail: "" }
  for (const owner of subscriptionDay === 0 ? [] : yield* owners) {
    const charged = yield* chargeSubscriptions(subscriptions, day, owner)
    credits += charged.credits
    deactivated += charged.deactivated
  }
  const addresses: Tariff = { price: addressDay, key: "daily-addresses", detail: " synced addresses" }
  for (const owed of addressDay === 0 ? [] : yield* syncedBefore(before)) {
    // Addresses that cannot be paid for stay synced: the account is asked again the next day.
    credits += (yield* take(addresses, day, owed))?.credits ?? 0
  }
  yield* query((db) => db.updateTable("credit_day").set({ day }).where("id", "=", 1).where("day", "<", day))
  return { credits, deactivated }
})

/** Charges the days that are over. */
export const charge = Effect.fnUntraced(function* (rules: Credits.Rules) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  // The day on which charging begins is the first that is charged: by the clock, since a new store's blocks may be years old.
  yield* query((db) =>
    db
      .insertInto("credit_day")
      .values({ id: 1, day: Credits.dayOf(now) - 1 })
      .onConflict((on) => on.column("id").doNothing())
  )
  const [last] = yield* query((db) => db.selectFrom("credit_day").select("day").where("id", "=", 1))
  const days = Credits.daysToCharge(last!.day, yield* ProvenTime.now)
  let credits = 0
  let deactivated = 0
  for (const day of days) {
    const charged = yield* chargeDay(rules, day)
    credits += charged.credits
    deactivated += charged.deactivated
  }
  return { days: days.length, credits, deactivated } satisfies Charged
})
