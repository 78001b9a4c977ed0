/** The coins of one block by itself: which of its outputs its own inputs take, and what it leaves. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Spend, Transfer } from "@headwater/core/Block"
import * as Steps from "@headwater/core/Steps"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as TransactionIndex from "./TransactionIndex.ts"

export interface Keeping {
  /** Whether anybody watches a script. */
  readonly isWatched: (script: AddressBytes) => boolean
  /** Whether outputs are kept whose script nobody watches. */
  readonly keepsAll: boolean
}

export interface BlockCoins {
  /** Kept outputs that no input of the block takes. */
  readonly created: ReadonlyArray<Coin>
  /** Inputs that take outputs of the block. */
  readonly inputs: ReadonlyArray<Inputs.Input>
  /** The other inputs, in block order. */
  readonly earlier: ReadonlyArray<Spend>
  /** Whether the node has shown what inputs take. */
  readonly shows: boolean
  /** 1 for each transaction of which an output, or an input that is known so far, is of somebody who is watched. */
  readonly touched: Uint8Array
}

/** More outputs than any transaction may have. */
const outputsOfTransaction = 2 ** 32

/** An output of the block, by its transaction and its index. A number, since a block has thousands. */
const placeOf = (transaction: number, index: number) => transaction * outputsOfTransaction + index

/** The block's own coins: most inputs take outputs of other blocks, and are told by their transaction alone. */
export function* of(block: Block, { isWatched, keepsAll }: Keeping): Generator<void, BlockCoins> {
  const { height, spends, transactions, transfers } = block
  const placeIn = yield* TransactionIndex.make(transactions)
  const places = new Float64Array(spends.length)
  const spent = new Set<number>()
  const mayBeSpent = new Uint8Array(transactions.length)
  let count = 0
  yield* Steps.forEach(spends, ({ outpoint: { index, transactionId } }) => {
    const transaction = placeIn(transactionId)
    const place = transaction < 0 ? -1 : placeOf(transaction, index)
    places[count++] = place
    if (place < 0) return
    mayBeSpent[transaction] = 1
    spent.add(place)
  })
  const touched = new Uint8Array(transactions.length)
  const created: Array<Coin> = []
  const own = new Map<number, Coin>()
  let shows = false
  yield* Steps.forEach(transfers, (transfer) => {
    const { transaction } = transfer
    if (transfer.kind !== "coin") return
    if (transfer.to === undefined) {
      shows = true
      if (transfer.from !== undefined && isWatched(transfer.from)) touched[transaction] = 1
      return
    }
    const { amount, position, to: script } = transfer
    const isOfWatched = isWatched(script)
    if (isOfWatched) touched[transaction] = 1
    const place = mayBeSpent[transaction] === 1 ? placeOf(transaction, position) : -1
    const isOwn = place >= 0 && spent.has(place)
    if (!isOwn && !isOfWatched && !keepsAll) return
    const coin = { outpoint: { transactionId: transactions[transaction]!, index: position }, script, amount, height }
    if (isOwn) own.set(place, coin)
    else created.push(coin)
  })
  const inputs: Array<Inputs.Input> = []
  const earlier: Array<Spend> = []
  count = 0
  yield* Steps.forEach(spends, (spend) => {
    const place = places[count++]!
    const coin = place < 0 ? undefined : own.get(place)
    if (coin === undefined) return earlier.push(spend)
    if (touched[transactionOf(place)] === 1 && isWatched(coin.script)) touched[spend.transaction] = 1
    return inputs.push({ spend, coin })
  })
  return { created, inputs, earlier, shows, touched }
}

const transactionOf = (place: number) => Math.floor(place / outputsOfTransaction)

/**
 * The block with a transfer for each of its inputs that is known; `later` are those that take outputs of earlier blocks.
 * Where outputs of watched scripts alone are kept, the block is without the transactions that touch none of these; of those
 * transactions the inputs stay that are not known.
 */
export function* touching<B extends Block>(
  block: B,
  { earlier, inputs, shows, touched }: BlockCoins,
  later: ReadonlyArray<Inputs.Input>,
  { isWatched, keepsAll }: Keeping
): Generator<void, B> {
  if (keepsAll) return yield* Inputs.showInSteps(block, [...inputs, ...later])
  for (const { coin, spend } of later) if (isWatched(coin.script)) touched[spend.transaction] = 1
  const resolved = new Set(later.map(({ spend }) => spend))
  const others = resolved.size === 0 ? earlier : earlier.filter((spend) => !resolved.has(spend))
  const unknown = shows ? yield* Inputs.unshownInSteps({ spends: others, transfers: block.transfers }) : others
  if (!touched.includes(1)) return { ...block, transfers: [], spends: unknown }
  const transfers: Array<Transfer> = []
  yield* Steps.forEach(block.transfers, (transfer) => {
    if (touched[transfer.transaction] === 1) transfers.push(transfer)
  })
  const spends: Array<Spend> = []
  let next = 0
  yield* Steps.forEach(block.spends, (spend) => {
    const isUnknown = unknown[next] === spend
    if (isUnknown) next++
    if (isUnknown || touched[spend.transaction] === 1) spends.push(spend)
  })
  const shown = [...inputs, ...later].filter(({ spend }) => touched[spend.transaction] === 1)
  return yield* Inputs.showInSteps({ ...block, transfers, spends }, shown)
}

/** The inputs that take outputs of the block, whosever they are. */
export function* ownInputs(block: Block): Generator<void, ReadonlyArray<Inputs.Input>> {
  return (yield* of(block, { isWatched: () => false, keepsAll: false })).inputs
}
