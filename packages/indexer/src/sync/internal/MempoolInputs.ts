/**
 * Whose coins the inputs of waiting transactions take. An input spends an output of a transaction that waits as well, or
 * of a mined one: the UTXO set knows it, or else the node.
 */
import type { CoinTransfer, Spend } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf, type Outpoint } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { Mempool, MempoolTransaction, Output } from "../../families/SideSources.ts"
import * as UtxoSet from "../../store/chain/UtxoSet.ts"
import { inChunks } from "../../store/database/Statements.ts"

/** Transactions with what their inputs take. */
export interface Resolved {
  /** All outputs, and the inputs whose coins are known; `transaction` is the number in the list. */
  readonly transfers: ReadonlyArray<CoinTransfer>
  /** The inputs that nobody knows at present, by the number of their transaction. */
  readonly unknown: ReadonlyMap<number, ReadonlyArray<Spend>>
  /** Whether the node was asked for them: they are known once its answers are of one moment, so worth another look. */
  readonly asked: boolean
}

/** Outputs by the key of their outpoint. */
type Outputs = Map<string, Output>

const hex = (id: Uint8Array) => Buffer.from(id).toString("hex")

const addOutputs = (outputs: Outputs, transactions: ReadonlyArray<MempoolTransaction>) => {
  for (const { id, transfers } of transactions) {
    for (const { amount, position, to } of transfers) {
      if (to !== undefined) outputs.set(keyOf({ transactionId: id, index: position }), { script: to, amount })
    }
  }
}

/** What transactions spend, but of those whose node shows what every input spends. */
const outpointsOf = (transactions: ReadonlyArray<MempoolTransaction>) => {
  const outpoints = new Map<string, Outpoint>()
  for (const { spends, transfers } of transactions) {
    if (spends.length === transfers.filter(({ to }) => to === undefined).length) continue
    for (const { outpoint } of spends) outpoints.set(keyOf(outpoint), outpoint)
  }
  return outpoints
}

/** What a transaction's inputs take and its outputs give, and the inputs that are not among the outputs. */
const resolved = (transaction: MempoolTransaction, number: number, outputs: Outputs) => {
  const transfers = transaction.transfers.map((transfer) => ({ ...transfer, transaction: number }))
  const shown = new Set(transaction.transfers.flatMap(({ position, to }) => (to === undefined ? [position] : [])))
  const unknown: Array<Spend> = []
  for (const spend of transaction.spends) {
    const { outpoint, position } = spend
    if (shown.has(position)) continue
    const output = outputs.get(keyOf(outpoint))
    if (output === undefined) {
      unknown.push(spend)
      continue
    }
    const { amount, script } = output
    transfers.push({ kind: "coin", transaction: number, position, from: script, to: undefined, amount })
  }
  return { transfers, unknown }
}

export const make = Effect.fnUntraced(function* (chain: Chain, mempool: Mempool) {
  const findMined = yield* UtxoSet.finder(chain)

  /** The outputs that transactions spend, and whether the node was asked for those that are missing. */
  const spentOutputs = Effect.fnUntraced(function* (
    transactions: ReadonlyArray<MempoolTransaction>,
    isWaiting: (id: string) => boolean
  ) {
    const outputs: Outputs = new Map()
    addOutputs(outputs, transactions)
    const outpoints = outpointsOf(transactions)
    const missing = () => [...outpoints].flatMap(([key, outpoint]) => (outputs.has(key) ? [] : [outpoint]))
    for (const coin of yield* findMined(missing())) outputs.set(keyOf(coin.outpoint), coin)
    const parents = new Set(missing().map(({ transactionId }) => hex(transactionId)))
    addOutputs(outputs, yield* inChunks([...parents].filter(isWaiting), mempool.transactions))
    const unknown = missing()
    const answers = unknown.length === 0 ? [] : yield* mempool.outputs(unknown)
    answers?.forEach((output, i) => {
      if (output !== undefined) outputs.set(keyOf(unknown[i]!), output)
    })
    return { outputs, asked: answers !== undefined }
  })

  /** Resolves transactions; `isWaiting` knows the ids, as hex, of all that wait at the node. */
  return Effect.fnUntraced(function* (
    transactions: ReadonlyArray<MempoolTransaction>,
    isWaiting: (id: string) => boolean
  ) {
    const { asked, outputs } = yield* spentOutputs(transactions, isWaiting)
    const transfers: Array<CoinTransfer> = []
    const unknown = new Map<number, ReadonlyArray<Spend>>()
    transactions.forEach((transaction, number) => {
      const found = resolved(transaction, number, outputs)
      transfers.push(...found.transfers)
      if (found.unknown.length > 0) unknown.set(number, found.unknown)
    })
    return { transfers, unknown, asked } satisfies Resolved
  })
})
