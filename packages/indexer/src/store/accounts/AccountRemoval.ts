/**
 * Removes an account with everything that is its own, beside the work of daemons: its keys are revoked first, the rest
 * goes in small steps, and the account's row last. A removal that was interrupted goes on where it is asked for again.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { whileMore } from "../database/SmallSteps.ts"
import { rows } from "../database/Statements.ts"
import * as BulkRequests from "../subscriptions/BulkRequests.ts"
import * as BroadcastSubscription from "../subscriptions/BroadcastSubscription.ts"
import * as Removal from "../subscriptions/Removal.ts"

/** Subscriptions that one transaction removes. */
const subscriptionsAtOnce = 50
/** Rows of other tables that one statement removes. */
const rowsAtOnce = 1_000

/** Removes some subscriptions of one chain with all that they have; whether there were any. */
const someSubscriptions = Effect.fnUntraced(function* (account: number) {
  const { query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const [first] = yield* query((db) =>
        db.selectFrom("subscription").select("chain").where("account", "=", account).orderBy("chain").limit(1)
      )
      if (first === undefined) return false
      const { chain } = first
      // As any change of subscriptions: a block's commit sees them all, or none.
      yield* ChainRow.lockAndBumpRevision(chain)
      const removed = yield* query((db) =>
        db
          .deleteFrom("subscription")
          .where("id", "in", (of) =>
            of
              .selectFrom("subscription")
              .select("id")
              .where("account", "=", account)
              .where("chain", "=", chain)
              .orderBy("id")
              .limit(subscriptionsAtOnce)
          )
          .returning(["id", "event"])
      )
      yield* Removal.begin(removed)
      const counted = removed.filter((row) => !BroadcastSubscription.isOne(row))
      yield* query((db) =>
        db
          .updateTable("subscription_count")
          .set({ total: sql<number>`total - ${counted.length}` })
          .where("account", "=", account)
          .where("chain", "=", chain)
      )
      return true
    })
  )
})

/** Removes some rows of a table; whether there were any. */
const someOf = Effect.fnUntraced(function* (table: "credit_entry" | "synced_address", account: number) {
  const { query } = yield* Database
  const removed = yield* query((db) =>
    db
      .deleteFrom(table)
      .where("id", "in", (of) =>
        of.selectFrom(table).select("id").where("account", "=", account).orderBy("id").limit(rowsAtOnce)
      )
      .returning("id")
  )
  return removed.length > 0
})

/** Removes some addresses of the account's wallets; whether there were any. */
const someAddresses = Effect.fnUntraced(function* (account: number) {
  const { query } = yield* Database
  const removed = yield* query((db) =>
    db
      .deleteFrom("wallet_address")
      .where("id", "in", (of) =>
        of
          .selectFrom("wallet_address")
          .select("wallet_address.id")
          .innerJoin("wallet", "wallet.id", "wallet_address.wallet")
          .where("wallet.account", "=", account)
          .limit(rowsAtOnce)
      )
      .returning("id")
  )
  return removed.length > 0
})

/** Removes some counts of attempts to deliver; whether there were any. */
const someCounts = Effect.fnUntraced(function* (account: number) {
  const { query } = yield* Database
  const removed = yield* query(
    rows(sql`
      delete from delivery_count
      where account = ${account} and (host, period) in (
        select host, period from delivery_count where account = ${account} limit ${rowsAtOnce}
      )
      returning account`)
  )
  return removed.length > 0
})

/** Removes what is left, under the locks of all chains; false where subscriptions have come meanwhile. */
const theRest = Effect.fnUntraced(function* (account: number) {
  const { query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const chains = yield* query((db) => db.selectFrom("chain").select("id").orderBy("id"))
      yield* Effect.forEach(chains, ({ id }) => ChainRow.lockAndBumpRevision(id), { discard: true })
      const left = yield* query((db) =>
        db.selectFrom("subscription").select("id").where("account", "=", account).limit(1)
      )
      if (left.length > 0) return false
      yield* query((db) =>
        db
          .deleteFrom("wallet_address")
          .where("wallet", "in", (of) => of.selectFrom("wallet").select("id").where("account", "=", account))
      )
      for (const table of [
        ...([
          "wallet",
          "synced_address",
          "synced_wallet",
          "broadcast",
          "reserved_coin",
          "domain",
          "credit_entry",
          "credit_balance"
        ] as const),
        ...([
          "subscription_count",
          "rate_bucket",
          "verification_hour",
          "account_feed",
          "api_key",
          "delivery_count",
          "delivery_day"
        ] as const)
      ]) {
        yield* query((db) => db.deleteFrom(table).where(sql<boolean>`account = ${account}`))
      }
      yield* query((db) => db.deleteFrom("account").where("id", "=", account))
      return true
    })
  )
})

/** Removes the account; everything that it had is gone for good. `also` is done in the transaction that revokes the keys. */
export const remove = Effect.fn("AccountRemoval.remove")(function* <R = never>(
  account: number,
  also: Effect.Effect<void, DatabaseError, R> = Effect.void
) {
  const { query, transaction } = yield* Database
  const revoked = yield* Clock.currentTimeMillis
  const revoke = query((db) =>
    db.updateTable("api_key").set({ revoked }).where("account", "=", account).where("revoked", "is", null)
  )
  yield* transaction(Effect.andThen(revoke, also))
  do {
    yield* whileMore(someSubscriptions(account))
    yield* Removal.rest
    yield* whileMore(someOf("credit_entry", account))
    yield* whileMore(someOf("synced_address", account))
    yield* whileMore(someAddresses(account))
    yield* whileMore(someCounts(account))
    yield* BulkRequests.forgetAll(account)
  } while (!(yield* theRest(account)))
})
