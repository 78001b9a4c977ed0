/**
 * The output map of a UTXO chain: every transparent output that may still be spent, so that an input can be told whose
 * coins it takes. It moves with the blocks, in their transaction, and back with a reorganisation.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"

type Spent = Pick<Row<"unspent_output">, "transaction_id" | "output_index" | "script" | "amount" | "height">

const keyOf = (transactionId: Uint8Array, index: number) => `${Buffer.from(transactionId).toString("latin1")}${index}`

/** The key of an output, with its types. */
const outpointTypes = { chain: "bigint", transaction_id: "bytea", output_index: "bigint" } as const

const outpointsOf = (chain: number, outpoints: ReadonlyArray<Spend["outpoint"]>) =>
  outpoints.map(({ index, transactionId }) => ({ chain, transaction_id: transactionId, output_index: index }))

/** Takes outputs out of the set; those that it does not know are not among the answers. */
const take = Effect.fnUntraced(function* (chain: number, spends: ReadonlyArray<Spend>) {
  const outpoints = spends.map(({ outpoint }) => outpoint)
  const columns = ["transaction_id", "output_index", "script", "amount", "height"] as const
  const { takeEach } = yield* Database
  return yield* takeEach("unspent_output", outpointTypes, outpointsOf(chain, outpoints), columns)
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
export const finder = Effect.fn("UtxoSet.finder")(function* (chain: Chain) {
  const { selectEach } = yield* Database
  const { id } = (yield* ChainRow.present(chain))!
  return Effect.fn("UtxoSet.find")(function* (outpoints: ReadonlyArray<Spend["outpoint"]>) {
    const rows = yield* selectEach<Omit<Spent, "height">>(
      outpointTypes,
      outpointsOf(id, outpoints),
      `select transaction_id, output_index, script, amount from unspent_output
       where chain = :chain and transaction_id = :transaction_id and output_index = :output_index`
    )
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
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("unspent_output").where("chain", "=", chain).where("height", ">", fork))
  const columns = ["chain", "transaction_id", "output_index", "script", "amount", "height"] as const
  yield* defer((db) =>
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
  yield* defer((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", ">", fork))
})

/** Forgets spent outputs that no reorganisation can bring back. */
export const prune = Effect.fn("UtxoSet.prune")(function* (chain: number, below: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", "<", below))
})
