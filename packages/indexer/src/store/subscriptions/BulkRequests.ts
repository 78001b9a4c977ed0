/**
 * Requests that make many subscriptions, in steps. A request has a key of its account's choice and is kept with what its
 * items have come to: asked again it answers the same, and goes on where it broke off.
 */
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Expression, type SqlBool, sql } from "kysely"
import * as Limits from "../accounts/Limits.ts"
import * as ProvenTime from "../chain/ProvenTime.ts"
import { Database } from "../database/Database.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import type { Row } from "../database/Tables.ts"
import type { CreatedSubscription } from "./Subscription.ts"

/**
 * What an item has come to: a subscription, or the error of the interface that stands in its place; null where the item
 * breaks a rule that every look at the item shows, whose error is not kept, as thousands of them are long.
 */
export type Outcome =
  | CreatedSubscription
  | null
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        readonly details?: ReadonlyArray<{ readonly attribute: string; readonly message: string }>
      }
    }

interface BulkRequest {
  readonly account: number
  readonly key: string
  /** Of everything that is asked for, but for secrets. */
  readonly digest: Uint8Array
}

/** The key was used for another request of the account. */
export class BulkKeyUsed extends Schema.TaggedError<BulkKeyUsed>()("BulkKeyUsed", {}) {}

/** How long a request is remembered. */
const keptMillis = 7 * 86_400_000

const find = Effect.fnUntraced(function* ({ account, key }: Pick<BulkRequest, "account" | "key">) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("bulk_request").selectAll().where("account", "=", account).where("request_key", "=", key)
  )
  return row
})

/** The request's id, and how many of its items are done; `admit` is asked whether a new one may begin. */
export const begin = Effect.fn("BulkRequests.begin")(function* <E, R>(
  request: BulkRequest,
  admit: Effect.Effect<unknown, E, R>
) {
  const { transaction } = yield* Database
  const limits = yield* Limits.Limits
  return yield* transaction(
    Effect.gen(function* () {
      const { query } = yield* Database
      const { account, digest, key } = request
      const now = yield* Clock.currentTimeMillis
      let row = yield* find(request)
      if (row === undefined) {
        yield* admit
        yield* Limits.lockAccount(account)
        yield* Limits.check("bulkRequests", yield* Limits.bulkRequestsOf(account), limits)
        yield* query((db) =>
          db
            .insertInto("bulk_request")
            .values({ account, request_key: key, digest, created: now })
            .onConflict((on) => on.columns(["account", "request_key"]).doNothing())
        )
        row = (yield* find(request))!
      }
      // One whose time is over is being forgotten.
      const isOld = row.created < now - keptMillis
      if (isOld || !Bytes.equal(row.digest, digest)) return yield* new BulkKeyUsed()
      return { id: row.id, done: row.done }
    })
  )
})

const outcomesOf = ({ results }: Pick<Row<"bulk_result">, "results">) => JSON.parse(results) as ReadonlyArray<Outcome>

/** What the items of a request have come to so far, from the first on. */
export const outcomes = Effect.fn("BulkRequests.outcomes")(function* (id: number) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db.selectFrom("bulk_result").select("results").where("bulk", "=", id).orderBy("position")
  )
  return found.flatMap(outcomesOf)
})

/**
 * Makes what the items from `position` on come to, in a transaction with what they have come to; undefined where another
 * one that answers the same request has done that.
 */
export const step = Effect.fn("BulkRequests.step")(function* <E, R>(
  id: number,
  position: number,
  make: Effect.Effect<ReadonlyArray<Outcome>, E, R>
) {
  const { transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const { forUpdate, query } = yield* Database
      const [row] = yield* query((db) =>
        db.selectFrom("bulk_request").select("done").where("id", "=", id).modifyEnd(forUpdate)
      )
      if (row?.done !== position) return undefined
      const made = yield* make
      yield* query((db) => db.insertInto("bulk_result").values({ bulk: id, position, results: JSON.stringify(made) }))
      yield* query((db) =>
        db
          .updateTable("bulk_request")
          .set({ done: position + made.length })
          .where("id", "=", id)
      )
      return made
    })
  )
})

/** Rows of results that are forgotten at a time, each of some hundred items. */
const rowsAtOnce = 20

/** Deletes some results of one of these requests, or the request itself once it has none; whether there was one. */
const forgetSome = (which: Expression<SqlBool>) =>
  Effect.gen(function* () {
    const { forUpdate, query } = yield* Database
    const [old] = yield* query((db) =>
      db.selectFrom("bulk_request").select("id").where(which).orderBy("created").limit(1).modifyEnd(forUpdate)
    )
    if (old === undefined) return false
    const removed = yield* query((db) =>
      db
        .deleteFrom("bulk_result")
        .where("bulk", "=", old.id)
        .where("position", "in", (of) =>
          of
            .selectFrom("bulk_result")
            .select("position")
            .where("bulk", "=", old.id)
            .orderBy("position")
            .limit(rowsAtOnce)
        )
        .returning("position")
    )
    if (removed.length < rowsAtOnce) yield* query((db) => db.deleteFrom("bulk_request").where("id", "=", old.id))
    return true
  })

/** Forgets requests, in small steps. */
const forget = Effect.fnUntraced(function* (which: Expression<SqlBool>) {
  const { transaction } = yield* Database
  yield* SmallSteps.whileMore(transaction(forgetSome(which)))
})

/** Forgets the requests whose time is over. */
export const prune = Effect.flatMap(ProvenTime.now, (now) => forget(sql<SqlBool>`created < ${now - keptMillis}`))

/** Forgets all requests of an account that is removed. */
export const forgetAll = (account: number) => forget(sql<SqlBool>`account = ${account}`)
