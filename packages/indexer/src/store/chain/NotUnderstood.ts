/**
 * Transactions of committed blocks that this version of Headwater did not understand in full: a row for each, written and
 * undone with its block, shown to the operator, and gone once a version that understands the transaction replays the
 * block.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"

/** The rows of a block. */
export const rowsOf = (
  chain: number,
  { height, notUnderstood = [] }: Pick<Block, "height" | "notUnderstood">
): ReadonlyArray<Row<"not_understood">> =>
  notUnderstood.map(({ raw, reason, transactionId, transfers }, position) => ({
    ...{ chain, height, position, transaction_id: transactionId ?? null },
    ...{ reason, transfers, raw }
  }))

/** Forgets the rows of blocks above `fork`, in the transaction that undoes them. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("not_understood").where("chain", "=", chain).where("height", ">", fork))
})

/** Puts the rows of a block that is entered again in the place of those that it had. */
export const rewrite = Effect.fnUntraced(function* (chain: number, block: Block) {
  const { defer, insertMany } = yield* Database
  yield* defer((db) => db.deleteFrom("not_understood").where("chain", "=", chain).where("height", "=", block.height))
  yield* insertMany("not_understood", rowsOf(chain, block))
})

/** How many transactions of a chain were not understood in full, and the first and the last of their blocks. */
export interface Count {
  readonly transactions: number
  readonly from: number
  readonly to: number
}

/** Undefined where every transaction was understood. */
export const count = Effect.fn("NotUnderstood.count")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("not_understood as n")
      .innerJoin("chain", "chain.id", "n.chain")
      .select(({ fn }) => [
        fn.countAll<number>().as("transactions"),
        fn.min("n.height").as("from"),
        fn.max("n.height").as("to")
      ])
      .where("chain.name", "=", Chain.nameOf(chain))
  )
  if (row === undefined || row.transactions === 0) return undefined
  return { transactions: row.transactions, from: row.from, to: row.to } satisfies Count
})

/** The newest ones of a chain, the newest first. */
export const newest = Effect.fn("NotUnderstood.newest")(function* (chain: Chain.Chain, limit: number) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("not_understood as n")
      .innerJoin("chain", "chain.id", "n.chain")
      .selectAll("n")
      .where("chain.name", "=", Chain.nameOf(chain))
      .orderBy("n.height", "desc")
      .orderBy("n.position")
      .limit(limit)
  )
  return rows.map(({ height, raw, reason, transaction_id: id, transfers }) => ({
    height,
    transactionId: id === null ? null : Hash.encode(chain, id),
    reason,
    transfers,
    raw
  }))
})

/** The count and the remedy, for the operator. */
export const describe = (chain: Chain.Chain, { from, to, transactions }: Count): string => {
  const name = Chain.nameOf(chain)
  const one = transactions === 1
  return (
    `${one ? `1 transaction in block ${from} was` : `${transactions} transactions in blocks ${from} to ${to} were`} not ` +
    `understood in full: what is certain of ${one ? "that one" : "them"} is recorded, and the rest has no callback. Once a ` +
    `newer version of Headwater understands ${one ? "that one" : "them"}: ` +
    `headwater replay ${name} --from ${from} --to ${to} --callbacks` +
    (chain.ledger === "outputs" ? `, or for the balances of wallets headwater rewind ${name} ${from - 1}` : "")
  )
}
