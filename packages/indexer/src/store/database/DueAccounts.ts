/** What nodes are to be asked about at a height of a chain, by account: no row of one is read for another one's. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"
import { rows } from "./Statements.ts"

/** A place in the order of an account: the next look, and a number where that is the same. */
export interface Place {
  readonly account: number
  readonly next: number
  readonly id: number
}

/** What is due, account by account. */
export interface Queue<A> {
  /** Every account that has any. */
  readonly accounts: Effect.Effect<ReadonlyArray<number>, DatabaseError, Database>
  /** The first ones behind each of the places, in order, at most so many of each. */
  readonly behind: (
    places: ReadonlyArray<Place>,
    most: number
  ) => Effect.Effect<ReadonlyArray<A>, DatabaseError, Database>
  readonly placeOf: (one: A) => Place
}

/** A table with an index of `chain + 0`, `account`, `next_look` and a number, and how its rows are read, as `own`. */
export interface Source<A> {
  readonly table: "broadcast" | "transaction_look"
  readonly number: string
  readonly select: string
  readonly placeOf: (one: A) => Place
}

/**
 * The chain, for the index that has the account. Planners would also take the one of all accounts together, and read through it
 * for a single one, wherever their statistics are older than what another account has added.
 */
const ofChain = "own.chain + 0"

export const queue = <A>(
  { number, placeOf, select, table }: Source<A>,
  due: { readonly chain: number; readonly height: number }
): Queue<A> => {
  const own = sql`${sql.table(table)} own where ${sql.raw(ofChain)} = ${due.chain} and own.next_look is not null`
  return {
    accounts: Effect.gen(function* () {
      const { read } = yield* Database
      const found = yield* read(
        rows(sql<{ readonly account: number }>`
          with recursive turn(account) as (
            select min(own.account) from ${own}
            union all
            select (select min(own.account) from ${own} and own.account > turn.account) from turn
            where turn.account is not null
          )
          select turn.account from turn
          where turn.account is not null
            and (select min(own.next_look) from ${own} and own.account = turn.account) <= ${due.height}`)
      )
      return found.map(({ account }) => Number(account))
    }).pipe(Effect.withSpan("DueAccounts.accounts")),
    behind: Effect.fn("DueAccounts.behind")(function* (places, most) {
      const { selectEach } = yield* Database
      return yield* selectEach<A>(
        { chain: "bigint", height: "bigint", account: "bigint", next: "bigint", id: "bigint" },
        places.map((place) => ({ ...due, ...place })),
        `${select} where ${ofChain} = :chain and own.account = :account and own.next_look <= :height
           and (own.next_look, own.${number}) > (:next, :id)
         order by own.next_look, own.${number} limit ${most}`
      )
    }),
    placeOf
  }
}
