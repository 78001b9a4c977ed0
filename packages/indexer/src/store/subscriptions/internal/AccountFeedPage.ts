/**
 * Pages of the feed of an account. A callback gets its position when a page first shows it, in a transaction that has the
 * lock of the feed: who sees a position sees all lower ones, whichever processes write and read. Positions have no gaps but
 * those of callbacks that are kept no longer.
 */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import type * as FeedPage from "./FeedPage.ts"
import * as PastCallbacks from "./PastCallbacks.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"

interface AccountFeedRow extends FeedPage.FeedRow {
  readonly sequence: number
  readonly feed_position: number
  readonly reference_id: string
  /** `blockchain/network`. */
  readonly chain: string
}

const columns = sql.raw(
  "feed_position, reference_id, chain.name as chain, sequence, idempotency_key, callback.event, state, body, " +
    "callback.created, delivered, due, attempt_log"
)

/** The last position that was given. */
export const last = Effect.fnUntraced(function* (account: number, run: "query" | "read" = "read") {
  const database = yield* Database
  const [feed] = yield* database[run](
    rows(sql<Pick<Row<"account_feed">, "last_position">>`
      select last_position from account_feed where account = ${account}`)
  )
  return feed?.last_position ?? 0
})

/** Opens the feed at its first use, and keeps others from giving positions until the transaction ends. */
const lock = Effect.fnUntraced(function* (account: number) {
  const { forUpdate, query } = yield* Database
  const select = rows(sql<Pick<Row<"account_feed">, "last_position">>`
    select last_position from account_feed where account = ${account} ${forUpdate}`)
  const [feed] = yield* query(select)
  if (feed !== undefined) return feed.last_position
  yield* query((db) =>
    db
      .insertInto("account_feed")
      .values({ account, last_position: 0 })
      .onConflict((on) => on.doNothing())
  )
  return (yield* query(select))[0]!.last_position
})

/** The last sequence number of each subscription; nobody else gives numbers until the transaction ends. */
const lockSequences = Effect.fnUntraced(function* (subscriptions: Iterable<number>) {
  const { forUpdate, numbers, query } = yield* Database
  const found = yield* query(
    rows(sql<Pick<Row<"subscription">, "id" | "last_sequence">>`
      select id, last_sequence from subscription
      where id in ${numbers([...new Set(subscriptions)])} order by id ${forUpdate}`)
  )
  return new Map(found.map(({ id, last_sequence }) => [id, last_sequence]))
})

type Unplaced = Pick<Row<"callback">, "id" | "sequence" | "subscription">

/** Gives the next positions to at most `count` callbacks that have none, with numbers where they lack them; whether any. */
const place = Effect.fnUntraced(function* (account: number, count: number) {
  const { numbers, query, updateEach } = yield* Database
  const position = yield* lock(account)
  const some = UndoneBlocks.withoutUntold(
    yield* query(
      rows(sql<Unplaced & { readonly is_untold: number }>`
        select id, subscription, sequence, ${sql.raw(UndoneBlocks.isUntold)} as is_untold
        from every_callback callback
        where account = ${account} and feed_position is null order by id limit ${count}`)
    )
  )
  if (some.length === 0) return false
  const sequences = yield* lockSequences(some.map(({ subscription }) => subscription))
  const which = sql`id in ${numbers(some.map(({ id }) => id))}`
  yield* PastCallbacks.recall(which)
  // A sender may have given numbers, and a commit may have withdrawn callbacks, before the locks were there.
  const found = yield* query(
    rows(sql<Unplaced>`
      select id, subscription, sequence from callback where ${which} order by id`)
  )
  const numbered = new Map<number, number>()
  const placed = found.map(({ id, sequence, subscription }, i) => {
    if (sequence !== null) return { id, sequence, feed_position: position + i + 1 }
    const next = (numbered.get(subscription) ?? sequences.get(subscription) ?? 0) + 1
    numbered.set(subscription, next)
    return { id, sequence: next, feed_position: position + i + 1 }
  })
  yield* CallbackState.applyEach("place", placed)
  yield* updateEach(
    "subscription",
    [...numbered].map(([id, last_sequence]) => ({ id, last_sequence }))
  )
  yield* query((db) =>
    db
      .updateTable("account_feed")
      .set({ last_position: position + placed.length })
      .where("account", "=", account)
  )
  return true
})

/** One callback more than the page has, where there is one: by it the reader knows that there are more. */
export const read = Effect.fnUntraced(function* (account: number, { after, limit }: FeedPage.Page) {
  const database = yield* Database
  const select = (run: "query" | "read") =>
    database[run](
      rows(sql<AccountFeedRow>`
        select ${columns} from every_callback callback
        join subscription on subscription.id = callback.subscription
        join chain on chain.id = callback.chain
        where callback.account = ${account} and feed_position > ${after}
        order by feed_position limit ${limit + 1}`)
    )
  const shown = yield* select("read")
  if (shown.length > limit) return shown
  const [unplaced] = yield* database.read(
    rows(sql`select 1 from every_callback where account = ${account} and feed_position is null limit 1`)
  )
  if (unplaced === undefined) return shown
  const placed = yield* database.transaction(place(account, limit + 1 - shown.length))
  if (!placed) return shown
  // As where callbacks are leased: a number that was shown is not given again.
  yield* database.flush
  return yield* select("query")
})

/** Callbacks that get positions at a time where a reader wants none of them. */
const placedAtOnce = 200

/** Gives positions to all that have none, in small steps. */
export const placeAll = Effect.fnUntraced(function* (account: number) {
  const { transaction } = yield* Database
  while (yield* transaction(place(account, placedAtOnce))) yield* Effect.sleep("1 millis")
})

/**
 * In the transaction that forgets callbacks of a table, or of a partition: those that nobody has read have a position all the
 * same, so that readers know.
 */
export const pass = Effect.fnUntraced(function* (table: string, which: RawBuilder<unknown>) {
  const { lockRows, numbers, query } = yield* Database
  const unread = sql`from ${sql.table(table)} forgotten where ${which} and feed_position is null`
  const accounts = yield* query(
    rows(sql<{ account: number }>`
      select distinct account ${unread} and account in (select account from account_feed)`)
  )
  if (accounts.length === 0) return
  const these = accounts.map(({ account }) => account)
  yield* lockRows((db) =>
    db
      .selectFrom("account_feed")
      .select("account")
      .where(sql<boolean>`account in ${numbers(these)}`)
      .orderBy("account")
  )
  yield* query(
    rows(sql`
      update account_feed set last_position = last_position
        + (select count(*) ${unread} and forgotten.account = account_feed.account)
      where account in ${numbers(these)}`)
  )
})
