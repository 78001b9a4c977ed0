/**
 * The UTXO set of a chain: every transparent output that may still be spent, which shows whose coins an input
 * takes. The set moves with the blocks, in their transaction, and back with a reorganisation.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Spend } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Steps from "@headwater/core/Steps"
import { type Coin, keyOf, type Outpoint } from "@headwater/core/utxo/Coin"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as TimeSlice from "../../TimeSlice.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { longestScript } from "../database/LongestScript.ts"
import { inChunks, rowsAtOnce } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as BlockCoins from "./internal/BlockCoins.ts"
import type { ResolvedBlock } from "./Projection.ts"

/** The key of an output, with its types. */
const outpointTypes = { chain: "bigint", transaction_id: "bytea", output_index: "bigint" } as const

const outpointsOf = (chain: number, outpoints: ReadonlyArray<Outpoint>) =>
  outpoints.map(({ index, transactionId }) => ({ chain, transaction_id: transactionId, output_index: index }))

const columns = ["transaction_id", "output_index", "script", "amount", "height"] as const

const coinOf = (row: Pick<Row<"unspent_output">, (typeof columns)[number]>): Coin => ({
  outpoint: { transactionId: row.transaction_id, index: row.output_index },
  script: row.script as AddressBytes,
  amount: BigInt(row.amount),
  height: row.height
})

const rowOf = (chain: number, { amount, height, outpoint, script }: Coin): Row<"unspent_output"> => ({
  ...{ chain, transaction_id: outpoint.transactionId, output_index: outpoint.index },
  ...{ script: script.subarray(0, longestScript), amount: amount.toString(), height }
})

const spentRowOf = (chain: number, coin: Coin, spentHeight: number): Row<"spent_output"> => ({
  ...rowOf(chain, coin),
  spent_height: spentHeight
})

/** Takes coins out of the set that are known to be there, in a transaction. */
export const remove = Effect.fnUntraced(function* (chain: number, coins: ReadonlyArray<Pick<Coin, "outpoint">>) {
  const { deleteEach } = yield* Database
  const outpoints = coins.map(({ outpoint }) => outpoint)
  yield* deleteEach("unspent_output", outpointTypes, outpointsOf(chain, outpoints))
})

/** Those of the outpoints that the set has, as coins. */
export const find = Effect.fnUntraced(function* (chain: number, outpoints: ReadonlyArray<Outpoint>) {
  const { selectEach } = yield* Database
  const rows = yield* selectEach<Parameters<typeof coinOf>[0]>(
    outpointTypes,
    outpointsOf(chain, outpoints),
    `select ${columns.join(", ")} from unspent_output
     where chain = :chain and transaction_id = :transaction_id and output_index = :output_index`
  )
  return rows.map(coinOf)
})

/** An input with the coin that it takes out of the set. */
export interface TakingInput extends Inputs.Input {
  readonly coin: Coin
}

/** The inputs that take coins out of the map, each of which is taken once. */
export function* takenFrom(
  coins: Map<string, Coin>,
  spends: ReadonlyArray<Spend>
): Generator<void, ReadonlyArray<TakingInput>> {
  const inputs: Array<TakingInput> = []
  if (coins.size === 0) return inputs
  yield* Steps.forEach(spends, (spend) => {
    const key = keyOf(spend.outpoint)
    const coin = coins.get(key)
    if (coin === undefined) return
    coins.delete(key)
    inputs.push({ spend, coin })
  })
  return inputs
}

/** The inputs that take these coins. */
function* spending(spends: ReadonlyArray<Spend>, coins: ReadonlyArray<Coin>) {
  const byKey = new Map<string, Coin>()
  yield* Steps.forEach(coins, (coin) => byKey.set(keyOf(coin.outpoint), coin))
  return yield* takenFrom(byKey, spends)
}

/** Takes out of the set what it has of the outputs that these inputs spend, and gives the inputs that spend such. */
export const take = Effect.fnUntraced(function* (chain: number, spends: ReadonlyArray<Spend>) {
  if (spends.length === 0) return []
  const { takeEach } = yield* Database
  const outpoints = spends.map(({ outpoint }) => outpoint)
  const rows = yield* takeEach("unspent_output", outpointTypes, outpointsOf(chain, outpoints), columns)
  return yield* TimeSlice.runInTransaction(() => spending(spends, rows.map(coinOf)))
})

/** What of a block the set keeps. */
export interface Keeping extends BlockCoins.Keeping {
  /** {@link take}, or what does the same. */
  readonly take: (spends: ReadonlyArray<Spend>) => Effect.Effect<ReadonlyArray<TakingInput>, DatabaseError, Database>
}

/**
 * Applies a block: adds what it creates, takes what it spends, and gives it a transfer for every input that the set or
 * the block itself can resolve. Where outputs of watched scripts alone are kept, the answer is without the transactions
 * that touch none of these, except for inputs that are unknown.
 */
export const apply = Effect.fn("UtxoSet.apply")(function* (chain: number, block: Block, keeping: Keeping) {
  if (block.spends.length === 0 && block.transfers.length === 0) {
    return { ...block, created: [], taken: [] } satisfies ResolvedBlock
  }
  const { insertMany } = yield* Database
  const coins = yield* TimeSlice.runInTransaction(() => BlockCoins.of(block, keeping))
  const { created, earlier } = coins
  const later = yield* keeping.take(earlier)
  const taken = later.map(({ coin }) => coin)
  const rowsOf = <A, B>(coins: ReadonlyArray<A>, to: (coin: A) => B) =>
    TimeSlice.runInTransaction(() => TimeSlice.map(coins, to))
  yield* insertMany("spent_output", yield* rowsOf(taken, (coin) => spentRowOf(chain, coin, block.height)))
  yield* insertMany(
    "unspent_output",
    yield* rowsOf(created, (coin) => rowOf(chain, coin)),
    // Two coinbases before BIP-30 have the ids of earlier ones.
    "on conflict do nothing"
  )
  const touching = yield* TimeSlice.runInTransaction(() => BlockCoins.touching(block, coins, later, keeping))
  return { ...touching, created, taken } satisfies ResolvedBlock
})

/** The outputs that the block at a height has spent. */
const spentAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const spent: Array<Coin> = []
  let after: Pick<Row<"spent_output">, "transaction_id" | "output_index"> = {
    transaction_id: new Uint8Array(),
    output_index: -1
  }
  for (;;) {
    const rows = yield* query((db) =>
      db
        .selectFrom("spent_output")
        .select(columns)
        .where("chain", "=", chain)
        .where("spent_height", "=", height)
        .where(sql<boolean>`(transaction_id, output_index) > (${after.transaction_id}, ${after.output_index})`)
        .orderBy("transaction_id")
        .orderBy("output_index")
        .limit(rowsAtOnce)
    )
    for (const row of rows) spent.push(coinOf(row))
    if (rows.length < rowsAtOnce) return spent
    after = rows.at(-1)!
  }
})

/**
 * A committed block with a transfer for every input whose coin is known: created in the block itself, or spent by this
 * block so recently that the set still remembers the coin. The set stays as it is.
 */
export const recall = Effect.fnUntraced(function* <B extends Block>(chain: number, block: B) {
  const spent = yield* spentAt(chain, block.height)
  return yield* TimeSlice.runInTransaction(function* () {
    const own = yield* BlockCoins.ownInputs(block)
    return yield* Inputs.showInSteps(block, [...own, ...(yield* spending(block.spends, spent))])
  })
})

/**
 * What the set has of scripts, by their key: the amount in the coin's smallest unit, and the height of the block that created
 * the oldest of the coins. A script without coins is not among the answers. In a transaction.
 */
export const holdings = Effect.fn("UtxoSet.holdings")(function* (chain: number, scripts: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const rows = yield* inChunks(scripts, (some) =>
    query((db) =>
      db
        .selectFrom("unspent_output")
        .select(["script", ({ fn }) => fn.min("height").as("first")])
        // As text: neither database's driver gives integers of 64 bits as they are.
        .select(sql<string>`cast(sum(cast(amount as bigint)) as text)`.as("amount"))
        .where("chain", "=", chain)
        .where("script", "in", some)
        .groupBy("script")
    )
  )
  return new Map(rows.map(({ amount, first, script }) => [Bytes.key(script), { amount: BigInt(amount), first }]))
})

/** As {@link holdings} tells them. */
export type Holdings = Effect.Success<ReturnType<typeof holdings>>

/**
 * Of scripts whose coins were spent so recently that the set still remembers them: the height of the block that created the oldest
 * of these, by the key of the script. In a transaction.
 */
export const spentHeights = Effect.fn("UtxoSet.spentHeights")(function* (
  chain: number,
  scripts: ReadonlyArray<Uint8Array>
) {
  const { query } = yield* Database
  const rows = yield* inChunks(scripts, (some) =>
    query((db) =>
      db
        .selectFrom("spent_output")
        .select(["script", ({ fn }) => fn.min("height").as("first")])
        .where("chain", "=", chain)
        .where("script", "in", some)
        .groupBy("script")
    )
  )
  return new Map(rows.map(({ first, script }) => [Bytes.key(script), first]))
})

/** As {@link recall}, of a block that the store is not entering. */
export const known = Effect.fn("UtxoSet.known")(function* (chain: Chain, block: Block) {
  const row = yield* ChainRow.find(chain)
  return row === undefined ? block : yield* recall(row.id, block)
})

/**
 * Adds coins that were found in a node's set of unspent outputs, and those that blocks have spent since. The set may have
 * them already, where it keeps every output or the address was watched when they came.
 */
export const add = Effect.fnUntraced(function* (
  chain: number,
  unspent: ReadonlyArray<Coin>,
  spent: ReadonlyArray<Coin & { readonly spentHeight: number }>
) {
  const { insertMany } = yield* Database
  yield* insertMany(
    "unspent_output",
    unspent.map((coin) => rowOf(chain, coin)),
    "on conflict do nothing"
  )
  yield* insertMany(
    "spent_output",
    spent.map((coin) => spentRowOf(chain, coin, coin.spentHeight)),
    "on conflict do nothing"
  )
})

/** What the set has of scripts, in a transaction. */
export const coinsOf = Effect.fnUntraced(function* (chain: number, scripts: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const rows = yield* inChunks(scripts, (some) =>
    query((db) =>
      db.selectFrom("unspent_output").select(columns).where("chain", "=", chain).where("script", "in", some)
    )
  )
  return rows.map(coinOf)
})

/** Takes outputs out of the set that were spent unseen in some block from `lost` on, as if in the first one possible. */
export const spendUnseen = Effect.fnUntraced(function* (chain: number, coins: ReadonlyArray<Coin>, lost: number) {
  if (coins.length === 0) return
  const { insertMany, takeEach } = yield* Database
  const outpoints = outpointsOf(
    chain,
    coins.map(({ outpoint }) => outpoint)
  )
  yield* takeEach("unspent_output", outpointTypes, outpoints, columns)
  yield* insertMany(
    "spent_output",
    coins.map((coin) => spentRowOf(chain, coin, Math.max(lost, coin.height))),
    "on conflict do nothing"
  )
})

/** Takes back what {@link spendUnseen} noted of outputs, the block with their spending having left the chain. */
export const unspend = Effect.fnUntraced(function* (chain: number, coins: ReadonlyArray<Coin>, lost: number) {
  if (coins.length === 0) return
  const { takeEach } = yield* Database
  const keys = coins.map(({ height, outpoint: { index, transactionId } }) => ({
    ...{ chain, spent_height: Math.max(lost, height), transaction_id: transactionId, output_index: index }
  }))
  yield* takeEach("spent_output", { ...outpointTypes, spent_height: "bigint" }, keys, columns)
})

/** A lookup of unspent outputs in a chain's set; those that the set does not know are not among the answers. */
export const finder = Effect.fn("UtxoSet.finder")(function* (chain: Chain) {
  const database = yield* Database
  const { id } = (yield* ChainRow.present(chain))!
  return Effect.fn("UtxoSet.find")((outpoints: ReadonlyArray<Outpoint>) =>
    Effect.provideService(find(id, outpoints), Database, database)
  )
})

/** Takes back every block above `fork`. */
export const undo = Effect.fn("UtxoSet.undo")(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  const all = ["chain", ...columns] as const
  yield* defer((db) => db.deleteFrom("unspent_output").where("chain", "=", chain).where("height", ">", fork))
  yield* defer((db) =>
    db
      .insertInto("unspent_output")
      .columns(all)
      .expression(
        db
          .selectFrom("spent_output")
          .select(all)
          .where("chain", "=", chain)
          .where("spent_height", ">", fork)
          .where("height", "<=", fork)
      )
  )
  yield* defer((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", ">", fork))
  const next = fork + 1
  yield* defer((db) =>
    db.updateTable("chain").set({ spent_from: next }).where("id", "=", chain).where("spent_from", ">", next)
  )
})

/** Forgets every output, where the blocks up to `to` are left out: which of the outputs they spent is unknown. */
export const skip = Effect.fn("UtxoSet.skip")(function* (chain: number, to: number) {
  const { defer } = yield* Database
  for (const table of ["unspent_output", "spent_output"] as const) {
    yield* defer((db) => db.deleteFrom(table).where("chain", "=", chain))
  }
  yield* defer((db) =>
    db
      .updateTable("chain")
      .set({ spent_from: to + 1 })
      .where("id", "=", chain)
  )
})

/** Whether what was spent at `height` is still remembered. */
export const remembersSpent = ({ spent_from }: Pick<ChainRow.ChainRow, "spent_from">, height: number): boolean =>
  spent_from === null || height >= spent_from

/** Forgets spent outputs that no reorganisation can bring back. */
export const prune = Effect.fn("UtxoSet.prune")(function* (chain: number, below: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("spent_output").where("chain", "=", chain).where("spent_height", "<", below))
  yield* defer((db) =>
    db
      .updateTable("chain")
      .set({ spent_from: below })
      .where("id", "=", chain)
      .where((where) => where.or([where("spent_from", "is", null), where("spent_from", "<", below)]))
  )
})
