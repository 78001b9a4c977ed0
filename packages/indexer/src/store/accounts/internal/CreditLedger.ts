/** The entries of the credit ledger, which are never changed, and each account's balance, which is their sum. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Insertable, sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { prepared } from "../../database/Prepared.ts"
import type { Row } from "../../database/Tables.ts"
import type { CreditEntryTable, CreditKind } from "../../database/tables/AccountTables.ts"

export interface CreditEntry {
  readonly id: number
  readonly key: string
  readonly kind: CreditKind
  /** Negative where credits were consumed. */
  readonly amount: number
  readonly results: number
  readonly detail: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

export interface Grant {
  readonly account: number
  readonly amount: number
  readonly detail: string
  /** Chosen by the caller to make sure that the grant is added once. */
  readonly key?: string | undefined
}

export interface StatementPage {
  readonly limit: number
  readonly newestFirst: boolean
  /** The id of the last entry before the page. */
  readonly after: number | undefined
}

const balanceOf = prepared((db, account: number) =>
  db.selectFrom("credit_balance").select("balance").where("account", "=", account)
)

export const balance = Effect.fnUntraced(function* (account: number) {
  const { read } = yield* Database
  const [row] = yield* read(balanceOf(account))
  return row?.balance ?? 0
})

/** The balance, as the surrounding transaction sees it. */
export const present = Effect.fnUntraced(function* (account: number) {
  const { query } = yield* Database
  const [row] = yield* query(balanceOf(account))
  return row?.balance ?? 0
})

/** The balance, locked until the surrounding transaction ends. */
export const lock = Effect.fnUntraced(function* (account: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .updateTable("credit_balance")
      .set({ balance: sql<number>`balance` })
      .where("account", "=", account)
      .returning("balance")
  )
  return row?.balance ?? 0
})

/** Adds to a balance, of which at least as much is there where the amount is negative. */
export const add = Effect.fnUntraced(function* (account: number, amount: number) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("credit_balance")
      .set({ balance: sql<number>`balance + ${amount}` })
      .where("account", "=", account)
  )
})

const taking = prepared((db, amount: number, account: number, atLeast: number) =>
  db
    .updateTable("credit_balance")
    .set({ balance: sql<number>`balance - ${amount}` })
    .where("account", "=", account)
    .where("balance", ">=", atLeast)
    .returning("balance")
)

/** Takes an amount if the balance is as large; the balance after that, undefined where nothing was taken. */
export const take = Effect.fnUntraced(function* (account: number, amount: number) {
  const { query } = yield* Database
  const [row] = yield* query(taking(amount, account, amount))
  return row?.balance
})

/** Whether an entry has this key. */
export const has = Effect.fnUntraced(function* (entryKey: string) {
  const { query } = yield* Database
  const found = yield* query((db) => db.selectFrom("credit_entry").select("id").where("entry_key", "=", entryKey))
  return found.length > 0
})

/** Writes an entry whose key no other has; whether that was so. */
export const enter = Effect.fnUntraced(function* (entry: Insertable<CreditEntryTable>) {
  const { query } = yield* Database
  const written = yield* query((db) =>
    db
      .insertInto("credit_entry")
      .values(entry)
      .onConflict((on) => on.column("entry_key").doNothing())
      .returning("id")
  )
  return written.length > 0
})

/** Adds credits, in a transaction of their own, and gives the new balance. */
export const grant = Effect.fnUntraced(function* ({
  account,
  amount,
  detail,
  key
}: Grant): Effect.fn.Return<number, DuplicateEntry | DatabaseError, Database> {
  const { query, transaction } = yield* Database
  const at = yield* Clock.currentTimeMillis
  const entry_key = key ?? (yield* Effect.sync(() => `grant:${crypto.randomUUID()}`))
  return yield* transaction(
    Effect.gen(function* () {
      if (!(yield* enter({ account, entry_key, at, kind: "grant", amount, results: 1, detail }))) {
        return yield* new DuplicateEntry({ key: entry_key })
      }
      const [row] = yield* query((db) =>
        db
          .insertInto("credit_balance")
          .values({ account, balance: amount })
          .onConflict((on) =>
            on.column("account").doUpdateSet({ balance: sql<number>`credit_balance.balance + ${amount}` })
          )
          .returning("balance")
      )
      return row!.balance
    })
  )
})

const toEntry = (row: Row<"credit_entry">): CreditEntry => ({
  id: row.id,
  key: row.entry_key,
  kind: row.kind,
  amount: row.amount,
  results: row.results,
  detail: row.detail,
  at: row.at
})

/** A page of an account's entries. */
export const statement = Effect.fnUntraced(function* (account: number, { after, limit, newestFirst }: StatementPage) {
  const { read } = yield* Database
  const rows = yield* read((db) => {
    const entries = db.selectFrom("credit_entry").selectAll().where("account", "=", account)
    return (after === undefined ? entries : entries.where("id", newestFirst ? "<" : ">", after))
      .orderBy("id", newestFirst ? "desc" : "asc")
      .limit(limit)
  })
  return rows.map(toEntry)
})

/** An entry with this key exists. */
export class DuplicateEntry extends Schema.TaggedError<DuplicateEntry>()("DuplicateEntry", { key: Schema.String }) {
  override get message() {
    return `The ledger has an entry "${this.key}" already`
  }
}
