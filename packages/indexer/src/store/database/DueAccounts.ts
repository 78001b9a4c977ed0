/** Accounts with rows that are due at a height of a chain, found without reading the rows of each. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"
import { rows } from "./Statements.ts"

/** What is due, account by account. */
export interface Queue<A> {
  readonly accountOf: (one: A) => number
  /** The first accounts behind one of that number that have any, at most so many. */
  readonly accounts: (last: number, most: number) => Effect.Effect<ReadonlyArray<number>, DatabaseError, Database>
  /** The first ones of an account, behind the one that was the last before, at most so many. */
  readonly of: (
    account: number,
    limit: number,
    last: A | undefined
  ) => Effect.Effect<ReadonlyArray<A>, DatabaseError, Database>
}

/** Tables with an index of `chain`, `account` and `next_look`. */
export type Table = "broadcast" | "transaction_look"

/** The first accounts behind `last` with rows of which nodes are to be asked, at most so many. */
export const after = Effect.fn("DueAccounts.after")(function* (
  table: Table,
  { chain, height }: { readonly chain: number; readonly height: number },
  last: number,
  most: number
) {
  const { read } = yield* Database
  const own = sql`${sql.table(table)} own where own.chain = ${chain} and own.next_look is not null`
  const found = yield* read(
    rows(sql<{ readonly account: number }>`
      with recursive turn(account) as (
        select min(own.account) from ${own} and own.account > ${last}
        union all
        select (select min(own.account) from ${own} and own.account > turn.account) from turn
        where turn.account is not null
      )
      select turn.account from turn
      where turn.account is not null
        and (select min(own.next_look) from ${own} and own.account = turn.account) <= ${height}
      limit ${most}`)
  )
  return found.map(({ account }) => Number(account))
})
