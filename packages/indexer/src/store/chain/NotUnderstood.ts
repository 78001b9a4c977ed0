/**
 * Transactions of committed blocks that this version of Headwater did not understand in full: a row for each, written and
 * undone with its block, shown to the operator, and gone once a version that understands the transaction replays the
 * block.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as BlockRange from "./BlockRange.ts"
import type { Kind } from "./transfers/TransferLog.ts"

/** The rows of a block. */
export const rowsOf = (
  chain: number,
  { height, notUnderstood = [] }: Pick<Block, "height" | "notUnderstood">
): ReadonlyArray<Row<"not_understood">> =>
  notUnderstood.map(({ lacks, raw, reason, transactionId, transfers }, position) => ({
    ...{ chain, height, position, transaction_id: transactionId ?? null },
    ...{ reason, transfers, raw },
    lacks_coin: Number(lacks.includes("coin")),
    lacks_token: Number(lacks.includes("token")),
    lacks_internal: Number(lacks.includes("internal"))
  }))

/** Forgets the rows of blocks above `fork`, in the transaction that undoes them. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("not_understood").where("chain", "=", chain).where("height", ">", fork))
})

/** A row that lacks, of the kinds that are not entered, what the record lacked before, and of the others what it lacks now. */
const withKinds = (
  now: Row<"not_understood">,
  before: Row<"not_understood"> | undefined,
  entered: ReadonlySet<Kind>
): Row<"not_understood"> => ({
  ...now,
  lacks_coin: (entered.has("coin") ? now : before)?.lacks_coin ?? 0,
  lacks_token: (entered.has("token") ? now : before)?.lacks_token ?? 0,
  lacks_internal: (entered.has("internal") ? now : before)?.lacks_internal ?? 0
})

const nameOf = ({ position, transaction_id: id }: Row<"not_understood">) =>
  id === null ? `at ${position}` : Bytes.key(id)

/**
 * Puts the rows of a block that is entered again in the place of those that it had. Transfers of kinds that are not
 * `entered` stay as they are in the record, and so does what lacks of them.
 */
export const rewrite = Effect.fnUntraced(function* (chain: number, block: Block, entered: ReadonlySet<Kind>) {
  const { defer, insertMany, query } = yield* Database
  const before = yield* query((db) =>
    db
      .selectFrom("not_understood")
      .selectAll()
      .where("chain", "=", chain)
      .where("height", "=", block.height)
      .orderBy("position")
  )
  const now = rowsOf(chain, block)
  if (before.length === 0 && now.length === 0) return
  const old = new Map(before.map((row) => [nameOf(row), row]))
  const named = new Set(now.map(nameOf))
  const none = { lacks_coin: 0, lacks_token: 0, lacks_internal: 0 }
  const left = before
    .filter((row) => !named.has(nameOf(row)))
    .map((row) => withKinds({ ...row, ...none }, row, entered))
    .filter((row) => row.lacks_coin + row.lacks_token + row.lacks_internal > 0)
  yield* defer((db) => db.deleteFrom("not_understood").where("chain", "=", chain).where("height", "=", block.height))
  yield* insertMany(
    "not_understood",
    [...now.map((row) => withKinds(row, old.get(nameOf(row)), entered)), ...left].map((row, position) => ({
      ...row,
      position
    }))
  )
})

/** How many transactions of a chain were not understood in full, and the first and the last of their blocks. */
export interface Count extends BlockRange.BlockRange {
  readonly transactions: number
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
export const describe = (chain: Chain.Chain, count: Count): string => {
  const { from, to, transactions } = count
  const name = Chain.nameOf(chain)
  const one = transactions === 1
  return (
    `${one ? "1 transaction" : `${transactions} transactions`} in ${BlockRange.describe(count)} ${one ? "was" : "were"} not ` +
    `understood in full: what is certain of ${one ? "that one" : "them"} is recorded, and the rest has no callback. Once a ` +
    `newer version of Headwater understands ${one ? "that one" : "them"}: ` +
    `headwater replay ${name} --from ${from} --to ${to} --callbacks` +
    (chain.ledger === "outputs"
      ? `. Balances of wallets are refused until a node's coins have been searched, or until headwater rewind ${name} ${from - 1}`
      : "")
  )
}
