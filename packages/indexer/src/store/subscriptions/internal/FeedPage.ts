/** Pages of a subscription's feed. A callback that has no number yet gets one when a page first shows it. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import * as FeedPosition from "../FeedPosition.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"

export type FeedRow = Pick<
  Row<"callback">,
  "sequence" | "idempotency_key" | "event" | "state" | "body" | "created" | "delivered" | "due" | "attempt_log"
>
export const columns = sql.raw("sequence, idempotency_key, event, state, body, created, delivered, due, attempt_log")

/** Where a page begins, and how long it is. */
export interface Page extends FeedPosition.FeedPosition {
  readonly limit: number
}

/** The epoch of the store; fails where the page begins nowhere in this feed. */
export const check = Effect.fnUntraced(function* (subscription: number, page: Page) {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<Pick<Row<"subscription">, "last_sequence">>`
      select last_sequence from subscription where id = ${subscription}`)
  )
  return yield* FeedPosition.check(page, row?.last_sequence ?? 0)
})

/** Gives the next numbers to at most `count` callbacks that have none, in a transaction; to how many. */
export const giveNumbers = Effect.fnUntraced(function* (subscription: number, count: number) {
  const { forUpdate, query, updateEach } = yield* Database
  const [locked] = yield* query(
    rows(sql<Pick<Row<"subscription">, "last_sequence">>`
      select last_sequence from subscription where id = ${subscription} ${forUpdate}`)
  )
  if (locked === undefined) return 0
  const found = UndoneBlocks.withoutUntold(
    yield* query(
      rows(sql<{ id: number; is_untold: number }>`
        select id, ${sql.raw(UndoneBlocks.isUntold)} as is_untold from callback
        where subscription = ${subscription} and sequence is null order by id limit ${count}`)
    )
  )
  if (found.length === 0) return 0
  const last = locked.last_sequence
  yield* CallbackState.applyEach(
    "number",
    found.map(({ id }, i) => ({ id, sequence: last + i + 1 }))
  )
  yield* updateEach("subscription", [{ id: subscription, last_sequence: last + found.length }])
  return found.length
})

/** One callback more than the page has, where there is one: by it the reader knows that there are more. */
export const read = Effect.fnUntraced(function* (subscription: number, { after, limit }: Page) {
  const database = yield* Database
  const select = (run: typeof database.read) =>
    run(
      rows(sql<FeedRow>`
        select ${columns} from every_callback
        where subscription = ${subscription} and sequence > ${after} order by sequence limit ${limit + 1}`)
    )
  const shown = yield* select(database.read)
  if (shown.length > limit) return shown
  const [unnumbered] = yield* database.read(
    rows(sql`select 1 from callback where subscription = ${subscription} and sequence is null limit 1`)
  )
  if (unnumbered === undefined) return shown
  const numbered = yield* database.transaction(giveNumbers(subscription, limit + 1 - shown.length))
  if (numbered === 0) return shown
  // As where callbacks are leased: a number that was shown is not given again.
  yield* database.flush
  return yield* select(database.query)
})
