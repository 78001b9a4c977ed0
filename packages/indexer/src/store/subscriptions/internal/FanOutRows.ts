/** The matches that accounts are still to be told, and how far each account has been told of each (the table `fan_out`). */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as MatchedRows from "./MatchedRows.ts"

type FanOutRow = Row<"fan_out">

/** The first of an account, up to `count`. */
export const first = Effect.fnUntraced(function* (chain: number, account: number, count: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("fan_out")
      .selectAll()
      .select(MatchedRows.bytes)
      .where("chain", "=", chain)
      .where("account", "=", account)
      .orderBy("matched")
      .limit(count)
  )
})

/** Takes note of how far an account has been told of a match. */
export const advance = Effect.fnUntraced(function* (
  { account, chain, matched }: Pick<FanOutRow, "account" | "chain" | "matched">,
  { occurrence, subscription }: Pick<FanOutRow, "occurrence" | "subscription">
) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .updateTable("fan_out")
      .set({ subscription, occurrence })
      .where("chain", "=", chain)
      .where("account", "=", account)
      .where("matched", "=", matched)
  )
})

/** Removes the matches that an account has been told. */
export const remove = Effect.fnUntraced(function* (chain: number, account: number, matched: ReadonlyArray<number>) {
  if (matched.length === 0) return
  const { defer, numbers } = yield* Database
  yield* defer((db) =>
    db
      .deleteFrom("fan_out")
      .where("chain", "=", chain)
      .where("account", "=", account)
      .where(sql<boolean>`matched in ${numbers(matched)}`)
  )
})
