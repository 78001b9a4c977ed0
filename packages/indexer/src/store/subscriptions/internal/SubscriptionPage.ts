/** Pages of an account's subscriptions on a chain, at a cost that does not grow with how many there are. */
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import * as BroadcastSubscription from "../BroadcastSubscription.ts"

export interface Page {
  readonly limit: number
  readonly offset: number
}

const totalOf = Effect.fnUntraced(function* (account: number, chain: number) {
  const { read } = yield* Database
  const [counted] = yield* read((db) =>
    db.selectFrom("subscription_count").select("total").where("account", "=", account).where("chain", "=", chain)
  )
  return counted?.total ?? 0
})

/** The ids of the page; a far page is counted off from the nearer end. */
const idsOf = Effect.fnUntraced(function* (account: number, chain: number, { limit, offset }: Page, total: number) {
  const { read } = yield* Database
  const behind = total - offset - limit
  const backwards = behind < offset
  const rows = yield* read((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where(BroadcastSubscription.isNone)
      .orderBy("id", backwards ? "desc" : "asc")
      .limit(backwards ? limit + Math.min(0, behind) : limit)
      .offset(backwards ? Math.max(0, behind) : offset)
  )
  return rows.map(({ id }) => id)
})

/** The rows of the page in the order of creation, and how many there are in all. */
export const read = Effect.fnUntraced(function* (account: number, chain: number, page: Page) {
  const { read } = yield* Database
  const total = yield* totalOf(account, chain)
  if (page.offset >= total) return { total, rows: [] }
  const ids = yield* idsOf(account, chain, page, total)
  if (ids.length === 0) return { total, rows: [] }
  const rows = yield* read((db) => db.selectFrom("subscription").selectAll().where("id", "in", ids).orderBy("id"))
  return { total, rows }
})

/** The rows behind an id, in the order of creation. */
export const readAfter = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  { after, limit }: { readonly after: number; readonly limit: number }
) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("subscription")
      .selectAll()
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where(BroadcastSubscription.isNone)
      .where("id", ">", after)
      .orderBy("id")
      .limit(limit)
  )
})
