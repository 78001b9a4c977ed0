/** The rows by which addresses of a chain are watched, read from the store page by page as they came with the chain's revisions. */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import { isMatched } from "../MatchedSubscriptions.ts"
import { transactionEvent } from "../TransactionSubscriptions.ts"

/** For whom an address is watched; `transaction`: in its place the id of one, which subscriptions are for. */
export type Reason = "subscription" | "transaction" | "wallet" | "sync"

type Place = Pick<Row<"subscription">, "id" | "revision">
/** `watching`: 1 where somebody watches the address by this row, 2 where that is a transaction's id, else 0. */
type Entry = Pick<Row<"subscription">, "address" | "id" | "revision"> & { readonly watching: number }
type Page = Effect.Effect<ReadonlyArray<Entry>, DatabaseError>

/** Reads a page once its turn has come. */
export type ReadPage = (page: Page) => Page

/** Rows read at a time: some milliseconds, after which others have their turn. */
const pageSize = 1_000

const isForTransaction = sql<boolean>`event = ${sql.lit(transactionEvent)}`

const watchingWhere = (condition: RawBuilder<unknown>, as = sql`1`) =>
  sql<number>`case when ${condition} then ${as} else 0 end`.as("watching")

/** By which of its rows a table has an address watched. */
const watchingOf = {
  subscription: watchingWhere(isMatched(), sql`case when ${isForTransaction} then 2 else 1 end`),
  synced_address: watchingWhere(sql`active = 1`),
  wallet_address: watchingWhere(sql`1 = 1`)
}

/** Those of the chain that has this number in the store. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { read } = yield* Database

  /** Tells of each address that came with the revisions behind `from` up to `to`. */
  const each = Effect.fnUntraced(function* (
    from: number,
    to: number,
    readPage: ReadPage,
    tell: (address: Uint8Array, reason: Reason) => void
  ) {
    /**
     * In the order of an index, and with what nobody watches: sorted by another column, or with a condition that PostgreSQL
     * takes for a rare one, each page would take a look at all rows.
     */
    const pages = Effect.fnUntraced(function* (reason: Reason, pageAfter: (after: Place) => Page) {
      let after: Place = { revision: from, id: Number.MAX_SAFE_INTEGER }
      for (;;) {
        const found = yield* readPage(pageAfter(after))
        for (const { address, watching } of found) {
          if (watching !== 0 && address !== null) tell(address, watching === 2 ? "transaction" : reason)
        }
        if (found.length < pageSize) return
        after = found.at(-1)!
        yield* Effect.yieldNow
      }
    })
    const ofTable = (table: keyof typeof watchingOf, reason: Reason) =>
      pages(reason, (after) =>
        read((db) =>
          db
            .selectFrom(table)
            .select(["id", "address", "revision", watchingOf[table]])
            .where("chain", "=", chain)
            .where("revision", ">=", after.revision)
            .where("revision", "<=", to)
            .where(sql<boolean>`(revision, id) > (${after.revision}, ${after.id})`)
            .orderBy("revision")
            .orderBy("id")
            .limit(pageSize)
        )
      )
    yield* ofTable("subscription", "subscription")
    yield* ofTable("wallet_address", "wallet")
    yield* ofTable("synced_address", "sync")
    // Those of lists that came with these revisions, or began again with them.
    yield* pages("subscription", (after) =>
      read(
        rows(sql<Entry>`
          select a.id, a.address, a.revision, ${watchingWhere(sql`
            exists (select 1 from subscription s
              where s.id = a.subscription and a.revision >= s.active_from and ${isMatched("s")})`)}
          from listed_address a
          where a.left_revision is null and a.chain + 0 = ${chain}
            and a.revision >= ${after.revision} and a.revision <= ${to}
            and (a.revision, a.id) > (${after.revision}, ${after.id})
          order by a.revision, a.id limit ${pageSize}`)
      )
    )
  })

  /** Whether any subscription is for a transaction, by an index of such. */
  const hasTransactions = Effect.map(
    read((db) =>
      db.selectFrom("subscription").select("id").where("chain", "=", chain).where(isForTransaction).limit(1)
    ),
    (found) => found.length > 0
  )

  return { each, hasTransactions }
})
