/**
 * The output map of a UTXO chain: every transparent output that may still be spent, so that an input can be told whose
 * coins it takes. It moves with the blocks, in their transaction, and back with a reorganisation.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"

type Spent = Pick<Row<"unspent_output">, "transaction_id" | "output_index" | "script" | "amount" | "height">

const keyOf = (transactionId: Uint8Array, index: number) => `${Buffer.from(transactionId).toString("latin1")}${index}`

/** Takes outputs out of the map; those that it does not know are not among the answers. */
const take = Effect.fnUntraced(function* (chain: number, spends: ReadonlyArray<Spend>) {
  const database = yield* Database
  if (database.dialect === "sqlite") {
    return yield* database.each<Spent>(
      `delete from unspent_output where chain = ? and transaction_id = ? and output_index = ?
       returning transaction_id, output_index, script, amount, height`,
      spends.map(({ outpoint }) => [chain, outpoint.transactionId, outpoint.index])
    )
  }
  const ids = spends.map(({ outpoint }) => Buffer.from(outpoint.transactionId))
  const indices = spends.map(({ outpoint }) => outpoint.index)
  const rows = yield* database.query((db) => ({
    execute: async () =>
      (
        await sql<Spent>`delete from unspent_output o
          using unnest(${ids}::bytea[], ${indices}::bigint[]) as spend(transaction_id, output_index)
          where o.chain = ${chain} and o.transaction_id = spend.transaction_id and o.output_index = spend.output_index
          returning o.transaction_id, o.output_index, o.script, o.amount, o.height`.execute(db)
      ).rows
  }))
  return rows
})

/** What {@link apply} did. */
export interface Applied {
  /** The block with a transfer for every input that the map or the block itself can resolve. */
  readonly block: Block
  /** Outputs that came into the map. */
  readonly created: ReadonlyArray<Moved>
  /** Outputs of earlier blocks that left it. */
  readonly taken: ReadonlyArray<Moved>
}

/** An output as the map has it. */
export interface Moved {
  readonly script: AddressBytes
  readonly amount: bigint
  /** Of the block that created it. */
  readonly height: number
}

/**
 * Applies a block: adds what it creates, takes what it spends. `keep` says which scripts' outputs are worth a row.
 */
export const apply = Effect.fn("UtxoSet.apply")(function* (
  chain: number,
  block: Block,
  keep: (script: AddressBytes) => boolean
) {
  if (block.spends.length === 0 && block.transfers.length === 0) {
    return { block, created: [], taken: [] } satisfies Applied
  }
  const { insertMany } = yield* Database
  const created = new Map<string, CoinTransfer>()
  const resolved = new Set<string>()
  for (const transfer of block.transfers) {
    if (transfer.kind !== "coin") continue
    if (transfer.to === undefined) resolved.add(`${transfer.transaction}:${transfer.position}`)
    else created.set(keyOf(block.transactions[transfer.transaction]!, transfer.position), transfer)
  }

  const found: Array<CoinTransfer> = []
  const external: Array<Spend> = []
  const resolve = (spend: Spend, from: Uint8Array, amount: bigint) => {
    const { transaction, position } = spend
    if (resolved.has(`${transaction}:${position}`)) return
    found.push({ kind: "coin", transaction, position, from: from as AddressBytes, to: undefined, amount })
  }
  for (const spend of block.spends) {
    const key = keyOf(spend.outpoint.transactionId, spend.outpoint.index)
    const output = created.get(key)
    if (output === undefined) external.push(spend)
    else {
      created.delete(key)
      resolve(spend, output.to!, output.amount)
    }
  }

  const taken = external.length === 0 ? [] : yield* take(chain, external)
  const byKey = new Map(taken.map((row) => [keyOf(row.transaction_id, row.output_index), row]))
  for (const spend of external) {
    const row = byKey.get(keyOf(spend.outpoint.transactionId, spend.outpoint.index))
    if (row !== undefined) resolve(spend, row.script, BigInt(row.amount))
  }
  yield* insertMany(
    "spent_output",
    taken.map((row) => ({ ...row, chain, spent_height: block.height }))
  )
  const outputs = [...created.values()].filter((output) => keep(output.to!))
  yield* insertMany(
    "unspent_output",
    outputs.map((output) => ({
      chain,
      transaction_id: block.transactions[output.transaction]!,
      output_index: output.position,
      script: output.to!,
      amount: output.amount.toString(),
      height: block.height
    })),
    // Two coinbases before BIP-30 have the ids of earlier ones.
    "on conflict do nothing"
  )
  const transfers = [...block.transfers, ...found].sort((a, b) => a.transaction - b.transaction)
  return {
    block: found.length === 0 ? block : { ...block, transfers },
    created: outputs.map(({ amount, to }) => ({ script: to!, amount, height: block.height })),
    taken: taken.map(({ amount, height, script }) => ({
      script: script as AddressBytes,
      amount: BigInt(amount),
      height
    }))
  } satisfies Applied
})

type Found = Spend["outpoint"] & { readonly script: AddressBytes; readonly amount: bigint }

/** A lookup of unspent outputs in a chain's map; those that it does not know are not among the answers. */
export const finder = Effect.fn("UtxoSet.finder")(function* (chain: Chain.Chain) {
  const database = yield* Database
  const [row] = yield* database.query((db) =>
    db.selectFrom("chain").select("id").where("name", "=", Chain.nameOf(chain))
  )
  const { id } = row!
  return Effect.fn("UtxoSet.find")(function* (outpoints: ReadonlyArray<Spend["outpoint"]>) {
    const columns = "transaction_id, output_index, script, amount"
    const ids = outpoints.map(({ transactionId }) => Buffer.from(transactionId))
    const indices = outpoints.map(({ index }) => index)
    const rows =
      database.dialect === "sqlite"
        ? yield* database.each<Omit<Spent, "height">>(
            `select ${columns} from unspent_output where chain = ? and transaction_id = ? and output_index = ?`,
            outpoints.map(({ index, transactionId }) => [id, transactionId, index])
          )
        : yield* database.read((db) => ({
            execute: async () =>
              (
                await sql<Omit<Spent, "height">>`select o.transaction_id, o.output_index, o.script, o.amount
                  from unnest(${ids}::bytea[], ${indices}::bigint[]) as spend(transaction_id, output_index)
                  join unspent_output o on o.chain = ${id} and o.transaction_id = spend.transaction_id
                    and o.output_index = spend.output_index`.execute(db)
              ).rows
          }))
    return rows.map(
      (row): Found => ({
        transactionId: row.transaction_id,
        index: row.output_index,
        script: row.script as AddressBytes,
        amount: BigInt(row.amount)
      })
    )
  })
})

/** Takes back every block above `fork`. */
export const undo = Effect.fn("UtxoSet.undo")(function* (chain: number, fork: number) {
  const { write } = yield* Database
  yield* write((db) => db.deleteFrom("unspent_output").where("chain", "=", chain).where("height", ">", fork))
  const columns = ["chain", "transaction_id", "output_index", "script", "amount", "height"] as const
  yield* write((db) =>
    db
      .insertInto("unspent_output")
      .columns(columns)
      .expression(
        db
          .selectFrom("spent_output")
          .select(columns)
          .where("chain", "=", chain)
          .where("spent_height", ">", fork)
          .where("height", "<=", fork)
      )
  )
  yield* write((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", ">", fork))
})

/** Forgets spent outputs that no reorganisation can bring back. */
export const prune = Effect.fn("UtxoSet.prune")(function* (chain: number, below: number) {
  const { write } = yield* Database
  yield* write((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", "<", below))
})
