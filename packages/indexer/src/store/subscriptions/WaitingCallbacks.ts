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

/** Whether they are as many as may be. */
export const isFull = (account: number, maximum: number) =>
  Effect.map(count(account, maximum), (waiting) => waiting >= maximum)
