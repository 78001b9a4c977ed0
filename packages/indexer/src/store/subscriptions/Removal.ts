/**
 * Removes what subscriptions leave behind. A subscription's row goes at once, and nobody finds the subscription any more;
 * its callbacks and pending confirmations may be very many, and go in small steps.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import { rows } from "../database/Statements.ts"
import * as AddressLists from "./AddressLists.ts"
import * as CallbackState from "./CallbackState.ts"
import * as PastCallbacks from "./internal/PastCallbacks.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"

/** Subscriptions of one step. */
const atOnce = 50
/** Rows of one step: to remove a callback costs more than to change one, by each of its indexes. */
const rowsAtOnce = 250

/** In a transaction: removes some of what removed subscriptions have left; whether there may be more. */
const someLeft = Effect.fnUntraced(function* () {
  const { numbers, query } = yield* Database
  const found = yield* query((db) => db.selectFrom("removed_subscription").select("id").orderBy("id").limit(atOnce))
  if (found.length === 0) return false
  const ids = numbers(found.map(({ id }) => id))
  const pending = yield* PendingConfirmations.removeSome(sql`subscription in ${ids}`, rowsAtOnce)
  if (pending === rowsAtOnce) return true
  const most = rowsAtOnce - pending
  const ofThese = sql`subscription in ${ids}`
  if ((yield* CallbackState.applySome("remove", ofThese, most)) === most) return true
  if ((yield* PastCallbacks.removeSome(ofThese, most)) > 0) return true
  if (yield* AddressLists.removeSome(ids, rowsAtOnce)) return true
  yield* query(rows(sql`delete from removed_subscription where id in ${ids}`))
  return found.length === atOnce
})

/** In the transaction that removes the rows of subscriptions: what they have left, as far as that is little. */
export const begin = Effect.fnUntraced(function* (subscriptions: ReadonlyArray<{ readonly id: number }>) {
  const { insertMany, numbers, query } = yield* Database
  yield* insertMany(
    "removed_subscription",
    subscriptions.map(({ id }) => ({ id }))
  )
  const ids = numbers(subscriptions.map(({ id }) => id))
  yield* query(rows(sql`delete from recovery where subscription in ${ids}`))
  const ofKeys = ["extended_key", "extended_key_branch", "past_payment", "missed_blocks", "transaction_look"]
  for (const table of ["callback_copy", "address_list", ...ofKeys]) {
    yield* query(rows(sql`delete from ${sql.table(table)} where subscription in ${ids}`))
  }
  yield* someLeft()
  // Behind the callbacks, as who writes outcomes locks both.
  yield* query(rows(sql`delete from failing_subscription where subscription in ${ids}`))
})

/** In a transaction that has the chain's lock: removes subscriptions of broadcasts, which no count has. */
export const removeOfBroadcasts = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const { numbers, query } = yield* Database
  const removed = yield* query(
    rows(sql<{ readonly id: number }>`delete from subscription where id in ${numbers(ids)} returning id`)
  )
  yield* begin(removed)
})

/** Removes what is left, each step in a transaction. */
export const rest = Effect.flatMap(Database, ({ transaction }) => SmallSteps.whileMore(transaction(someLeft())))
