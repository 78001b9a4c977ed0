/**
 * How much of the service one account may take, so that no account takes it from the others. Every limit is checked in
 * the transaction that makes what it counts, with the account's row locked: they hold over all daemons of a store.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import * as WaitingCallbacks from "../subscriptions/WaitingCallbacks.ts"

/** The things that are limited: the default of each limit, and the message where the limit is reached. */
const limits = {
  /** Subscriptions of an account, over all chains. */
  subscriptions: { maximum: 1_000_000, says: (maximum: number) => `An account may have ${maximum} subscriptions` },
  /** Subscriptions of an account to one event of one address, wherever they are sent. */
  duplicates: {
    maximum: 100,
    says: (maximum: number) =>
      `An account may have ${maximum} subscriptions to one event of one address, transaction or chain`
  },
  /** Callbacks of an account that wait: beyond it what happens at busy addresses is kept, and told when they are fewer. */
  waitingCallbacks: {
    maximum: 100_000,
    says: (maximum: number) => `An account may have ${maximum} callbacks that wait`
  },
  /** Hosts of callbacks that an account may add. */
  domains: { maximum: 1_000, says: (maximum: number) => `An account may have ${maximum} domains` },
  /** Looks for the proof of a domain, in an hour of the clock. */
  verificationsAnHour: {
    maximum: 100,
    says: (maximum: number) => `An account may ask for ${maximum} verifications of domains an hour`
  },
  /** HD wallets that an account has synced, over all chains. */
  wallets: { maximum: 10_000, says: (maximum: number) => `An account may have ${maximum} synced wallets` },
  /** Single addresses that an account has synced, over all chains. */
  addresses: { maximum: 100_000, says: (maximum: number) => `An account may have ${maximum} synced addresses` },
  /** Addresses in the lists of an account's subscriptions, over all chains. */
  listedAddresses: {
    maximum: 1_000_000,
    says: (maximum: number) => `An account may have ${maximum} addresses in lists`
  },
  /** Requests of an account for many subscriptions that are remembered, each for seven days. */
  bulkRequests: {
    maximum: 10_000,
    says: (maximum: number) => `An account may make ${maximum} requests for many subscriptions in seven days`
  },
  /** Subscriptions of an account whose callbacks are being sent to another URL. */
  callbackCopies: {
    maximum: 100,
    says: (maximum: number) => `An account may have the callbacks of ${maximum} subscriptions sent to another URL`
  },
  /** Calls of a chain's node for one request. */
  nodeCalls: { maximum: 10_000, says: (maximum: number) => `A request may take ${maximum} calls of the chain's node` },
  /** Readers of an account's feed that stay connected to one process; the only limit that is counted in memory. */
  streams: {
    maximum: 20,
    says: (maximum: number) => `An account may have ${maximum} readers of its feed that stay connected`
  }
}

type Limit = keyof typeof limits
export type Maxima = Readonly<Record<Limit, number>>

export const defaultMaxima: Maxima = Record.map(limits, ({ maximum }) => maximum)

/** The limits of every account. */
export const Limits = Context.Reference<Maxima>("@headwater/indexer/store/accounts/Limits", {
  defaultValue: () => defaultMaxima
})

/** The account has as much as it may have. */
export class LimitReached extends Schema.TaggedError<LimitReached>()("LimitReached", {
  limit: Schema.Literals(Object.keys(limits) as ReadonlyArray<Limit>),
  maximum: Schema.Int
}) {
  override get message() {
    return `${limits[this.limit].says(this.maximum)} (the operator's limit ${this.limit})`
  }
}

/** Fails where an account that has `used` may not have one more. */
export const check = (limit: Limit, used: number, maxima: Maxima): Effect.Effect<void, LimitReached> =>
  used < maxima[limit] ? Effect.void : Effect.fail(new LimitReached({ limit, maximum: maxima[limit] }))

/** Until the transaction ends nobody else counts what the account has; after the lock of a chain, where both are taken. */
export const lockAccount = Effect.fnUntraced(function* (account: number) {
  const { lockRows } = yield* Database
  yield* lockRows((db) => db.selectFrom("account").select("id").where("id", "=", account))
})

const counted = Effect.fnUntraced(function* (statement: RawBuilder<{ readonly total: number | null }>) {
  const { query } = yield* Database
  const [row] = yield* query(rows(statement))
  return Number(row?.total ?? 0)
})

/** How many subscriptions an account has on all chains. */
export const subscriptionsOf = (account: number) =>
  counted(sql`select sum(total) as total from subscription_count where account = ${account}`)

export const domainsOf = (account: number) =>
  counted(sql`select count(*) as total from domain where account = ${account}`)

/** How many HD wallets an account has synced, of every family. */
export const walletsOf = (account: number) =>
  counted(sql`
    select (select count(*) from wallet where account = ${account})
      + (select count(*) from synced_wallet where account = ${account}) as total`)

/** How many single addresses an account has synced. */
export const addressesOf = (account: number) =>
  counted(sql`select count(*) as total from synced_address where account = ${account} and wallet = 0`)

/** How many addresses the lists of an account's subscriptions have. */
export const listedAddressesOf = (account: number) =>
  counted(sql`select sum(total) as total from address_list where account = ${account}`)

/** How many requests of an account for many subscriptions are remembered. */
export const bulkRequestsOf = (account: number) =>
  counted(sql`select count(*) as total from bulk_request where account = ${account}`)

/** Of how many subscriptions of an account the callbacks are being sent to another URL. */
export const callbackCopiesOf = (account: number) =>
  counted(sql`select count(*) as total from callback_copy where account = ${account} and stopped = 0`)

const hourMillis = 3_600_000

const hour = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / hourMillis))

const verificationsOf = (account: number) =>
  Effect.flatMap(hour, (hour) =>
    counted(sql`select total from verification_hour where account = ${account} and hour = ${hour}`)
  )

/** Counts a look for the proof of a domain; fails with the limit where the hour's looks are used up. */
export const countVerification = Effect.fn("Limits.countVerification")(function* (account: number, maxima: Maxima) {
  const { query, transaction } = yield* Database
  const now = yield* hour
  yield* transaction(
    Effect.gen(function* () {
      yield* lockAccount(account)
      yield* check("verificationsAnHour", yield* verificationsOf(account), maxima)
      yield* query((db) => db.deleteFrom("verification_hour").where("account", "=", account).where("hour", "<", now))
      yield* query((db) =>
        db
          .insertInto("verification_hour")
          .values({ account, hour: now, total: 1 })
          .onConflict((on) =>
            on.columns(["account", "hour"]).doUpdateSet({ total: sql<number>`verification_hour.total + 1` })
          )
      )
    })
  )
})

/** Milliseconds until verifications are counted anew. */
export const millisToNextHour = Effect.map(Clock.currentTimeMillis, (now) => hourMillis - (now % hourMillis))

/** The counts of an account's limited things. */
export const usage = Effect.fn("Limits.usage")(function* (account: number, { waitingCallbacks }: Maxima) {
  return {
    subscriptions: yield* subscriptionsOf(account),
    // More than may be are not counted.
    waitingCallbacks: yield* WaitingCallbacks.count(account, waitingCallbacks),
    domains: yield* domainsOf(account),
    verificationsAnHour: yield* verificationsOf(account),
    wallets: yield* walletsOf(account),
    addresses: yield* addressesOf(account),
    listedAddresses: yield* listedAddressesOf(account),
    bulkRequests: yield* bulkRequestsOf(account),
    callbackCopies: yield* callbackCopiesOf(account)
  }
})
