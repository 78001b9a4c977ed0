/** The callbacks of a subscription as the console shows them, with every attempt to deliver each one. */
import * as Effect from "effect/Effect"
import { type SqlBool, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as Page from "./Page.ts"

/** Callbacks of a subscription, newest first, from below a number on; those without a number come first. */
export const newest = Effect.fnUntraced(function* (subscription: number, before: number | undefined) {
  const { read } = yield* Database
  const newestWhere = (condition: ReturnType<typeof sql<SqlBool>>) =>
    read((db) =>
      db
        .selectFrom("every_callback")
        .select(["sequence", "idempotency_key", "event", "state", "body", "height", "created", "delivered", "due"])
        .select("attempt_log")
        .where("subscription", "=", subscription)
        .where(condition)
        .orderBy("sequence", "desc")
        .orderBy("id", "desc")
        .limit(Page.size + 1)
    )
  const unnumbered = before === undefined ? yield* newestWhere(sql<SqlBool>`sequence is null`) : []
  const numbered = yield* newestWhere(sql<SqlBool>`sequence < ${before ?? Number.MAX_SAFE_INTEGER}`)
  const { hasMore, items } = Page.of([...unnumbered, ...numbered])
  return {
    hasMore,
    items: items.map((row) => ({
      sequence: row.sequence,
      idempotencyKey: row.idempotency_key,
      event: row.event,
      state: row.state,
      height: row.height,
      created: row.created,
      delivered: row.delivered,
      nextAttempt: row.state === "due" ? row.due : null,
      attempts: JSON.parse(row.attempt_log) as unknown,
      body: row.body
    }))
  }
})
