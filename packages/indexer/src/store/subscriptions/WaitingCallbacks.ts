/** The callbacks of an account that are to be sent, or parked. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import { waiting } from "./internal/CallbackIndexes.ts"

const of = (account: number) => sql`select 1 from callback where account = ${account} and ${waiting}`

/** How many they are, up to `most`: more are not counted. */
export const count = Effect.fnUntraced(function* (account: number, most: number) {
  const { query } = yield* Database
  const [row] = yield* query(
    rows(sql<{ total: number }>`select count(*) as total from (${of(account)} limit ${most}) waiting`)
  )
  return Number(row?.total ?? 0)
})

/** Names of accounts of which as many wait as may, the oldest accounts first; no more than `limit` of them. */
export const fullAccounts = Effect.fn("WaitingCallbacks.fullAccounts")(function* (maximum: number, limit: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ name: string }>`
      select name from account
      where exists (
        select 1 from callback where account = account.id and ${waiting} limit 1 offset ${Math.max(0, maximum - 1)}
      )
      order by id limit ${limit}`)
  )
  return found.map(({ name }) => name)
})

/** Whether they are as many as may be. */
export const isFull = (account: number, maximum: number) =>
  Effect.map(count(account, maximum), (waiting) => waiting >= maximum)
