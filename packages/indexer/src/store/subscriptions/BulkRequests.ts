/**
 * Requests that make many subscriptions, in steps. A request has a key of its account's choice and is kept with what its
 * items have come to: asked again it answers the same, and goes on where it broke off.
 */
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { CreatedSubscription } from "./Subscription.ts"

/** What an item has come to: a subscription, or the error of the interface that stands in its place. */
export type Outcome =
  | CreatedSubscription
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        readonly details?: ReadonlyArray<{ readonly attribute: string; readonly message: string }>
      }
    }

export interface BulkRequest {
  readonly account: number
  readonly key: string
  /** Of everything that is asked for, but for secrets. */
  readonly digest: Uint8Array
}

/** The key stands for another request of the account's. */
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
  return yield* transaction(
    Effect.gen(function* () {
      const { query } = yield* Database
      const { account, digest, key } = request
      let row = yield* find(request)
      if (row === undefined) {
        yield* admit
        const created = yield* Clock.currentTimeMillis
        yield* query((db) =>
          db
            .insertInto("bulk_request")
            .values({ account, request_key: key, digest, created })
            .onConflict((on) => on.columns(["account", "request_key"]).doNothing())
        )
        row = (yield* find(request))!
      }
      if (!Bytes.equal(row.digest, digest)) return yield* new BulkKeyUsed()
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

/** Requests that are forgotten at a time, each with up to ten thousand results. */
const atOnce = 5

/** Forgets requests whose time is over, in small steps. */
export const prune = Effect.gen(function* () {
  const { numbers, query, transaction } = yield* Database
  const before = (yield* Clock.currentTimeMillis) - keptMillis
  yield* SmallSteps.whileMore(
    transaction(
      Effect.gen(function* () {
        const old = yield* query((db) =>
          db.selectFrom("bulk_request").select("id").where("created", "<", before).orderBy("created").limit(atOnce)
        )
        const ids = numbers(old.map(({ id }) => id))
        if (old.length === 0) return false
        yield* query(rows(sql`delete from bulk_result where bulk in ${ids}`))
        yield* query(rows(sql`delete from bulk_request where id in ${ids}`))
        return old.length === atOnce
      })
    )
  )
})
