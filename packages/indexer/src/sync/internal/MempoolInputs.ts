/**
 * Whose coins the inputs of waiting transactions take. An input spends an output of a transaction that waits as well, or
 * of a mined one: the UTXO set knows it, or else the node.
 */
import type { CoinTransfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf, type Outpoint } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { Mempool, MempoolTransaction, Output } from "../../families/SideSources.ts"
import * as UtxoSet from "../../store/chain/UtxoSet.ts"
import { inChunks } from "../../store/database/Statements.ts"

/** Transactions with what their inputs take. */
export interface Resolved {
  /** Of all transactions that could be resolved; `transaction` is the number in the list. */
  readonly transfers: ReadonlyArray<CoinTransfer>
  /** Ids, as hex, of those with an input that nobody knows at present: worth another look. */
  readonly unresolved: ReadonlySet<string>
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

/**
 * What a transaction's inputs take and its outputs give. Undefined where an input is not among the outputs although they
 * are `complete`; else such an input is left out.
 */
const transfersOf = (
  transaction: MempoolTransaction,
  number: number,
  outputs: Outputs,
  complete: boolean
): ReadonlyArray<CoinTransfer> | undefined => {
  const transfers = transaction.transfers.map((transfer) => ({ ...transfer, transaction: number }))
  const shown = new Set(transaction.transfers.flatMap(({ position, to }) => (to === undefined ? [position] : [])))
  for (const { outpoint, position } of transaction.spends) {
    if (shown.has(position)) continue
    const output = outputs.get(keyOf(outpoint))
    if (output === undefined) {
      if (complete) return undefined
      continue
    }
    const { amount, script } = output
    transfers.push({ kind: "coin", transaction: number, position, from: script, to: undefined, amount })
  }
  return transfers
}

export const make = Effect.fnUntraced(function* (chain: Chain, mempool: Mempool) {
  const findMined = yield* UtxoSet.finder(chain)

  /** The outputs that transactions spend, and whether those that are missing are nowhere. */
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
    return { outputs, complete: answers !== undefined }
  })

  /** Resolves transactions; `isWaiting` knows the ids, as hex, of all that wait at the node. */
  return Effect.fnUntraced(function* (
    transactions: ReadonlyArray<MempoolTransaction>,
    isWaiting: (id: string) => boolean
  ) {
    const { complete, outputs } = yield* spentOutputs(transactions, isWaiting)
    const transfers: Array<CoinTransfer> = []
    const unresolved = new Set<string>()
    transactions.forEach((transaction, number) => {
      const found = transfersOf(transaction, number, outputs, complete)
      if (found === undefined) unresolved.add(hex(transaction.id))
      else transfers.push(...found)
    })
    return { transfers, unresolved } satisfies Resolved
  })
})
