/** The coins of one block by itself: which of its outputs its own inputs take, and what it leaves. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Span, Spend, Transfer } from "@headwater/core/Block"
import * as Steps from "@headwater/core/Steps"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as TransactionIndex from "./TransactionIndex.ts"

export interface Keeping {
  /** Whether anybody watches a script. */
  readonly isWatched: (script: AddressBytes) => boolean
  /** As `isWatched`, of a script that stands among other bytes. */
  readonly isWatchedAt?: (span: Span) => boolean
  /** Whether outputs are kept whose script nobody watches. */
  readonly keepsAll: boolean
}

/** An input that takes an output of its own block. */
interface OwnInput {
  readonly spend: Spend
  readonly output: CoinTransfer
}

const inputOf = ({ output: { amount, to }, spend }: OwnInput): Inputs.Input => ({
  spend,
  coin: { script: to!, amount }
})

export interface BlockCoins {
  /** Kept outputs that no input of the block takes. */
  readonly created: ReadonlyArray<Coin>
  /** Inputs that take outputs of the block. */
  readonly own: ReadonlyArray<OwnInput>
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
export function* of(block: Block, { isWatched, isWatchedAt, keepsAll }: Keeping): Generator<void, BlockCoins> {
  const { height, spends, transactions, transfers } = block
  const index = yield* TransactionIndex.make(transactions)
  const earlier: Array<Spend> = []
  /** Inputs that name a transaction of the block, and which output of it. */
  const named: Array<{ readonly spend: Spend; readonly place: number }> = []
  const spent = new Set<number>()
  const mayBeSpent = new Uint8Array(transactions.length)
  yield* Steps.forEach(spends, (spend) => {
    const { outpointSpan } = spend
    const transaction = outpointSpan ? index.findSpent(outpointSpan) : index.find(spend.outpoint.transactionId)
    if (transaction < 0) {
      earlier.push(spend)
      return
    }
    const place = placeOf(transaction, spend.outpoint.index)
    named.push({ spend, place })
    mayBeSpent[transaction] = 1
    spent.add(place)
  })
  const touched = new Uint8Array(transactions.length)
  const created: Array<Coin> = []
  const outputs = new Map<number, CoinTransfer>()
  let shows = false
  yield* Steps.forEach(transfers, (transfer) => {
    const { transaction } = transfer
    if (transfer.kind !== "coin") return
    const { position, toSpan } = transfer
    const to = toSpan && isWatchedAt ? undefined : transfer.to
    if (!toSpan && to === undefined) {
      shows = true
      if (transfer.from !== undefined && isWatched(transfer.from)) touched[transaction] = 1
      return
    }
    const isOfWatched = to === undefined ? isWatchedAt!(toSpan!) : isWatched(to)
    if (isOfWatched) touched[transaction] = 1
    const place = mayBeSpent[transaction] === 1 ? placeOf(transaction, position) : -1
    if (place >= 0 && spent.has(place)) {
      outputs.set(place, transfer)
      return
    }
    if (!isOfWatched && !keepsAll) return
    const outpoint = { transactionId: transactions[transaction]!, index: position }
    created.push({ outpoint, script: transfer.to!, amount: transfer.amount, height })
  })
  const own: Array<OwnInput> = []
  yield* Steps.forEach(named, ({ place, spend }) => {
    const output = outputs.get(place)
    if (output === undefined) return
    if (touched[transactionOf(place)] === 1 && isWatched(output.to!)) touched[spend.transaction] = 1
    own.push({ spend, output })
  })
  // A transaction that was not understood shows no outputs.
  const isOwn = own.length < named.length ? new Set(own.map(({ spend }) => spend)) : undefined
  const others = isOwn === undefined ? earlier : spends.filter((spend) => !isOwn.has(spend))
  return { created, own, earlier: others, shows, touched }
}

const transactionOf = (place: number) => Math.floor(place / outputsOfTransaction)

/** A transfer with its address and amount at hand, for the many who ask for these from here on. */
const atHand = (transfer: Transfer): Transfer => {
  if (transfer.kind !== "coin" || transfer.toSpan === undefined) return transfer
  const { amount, from, kind, position, to, transaction } = transfer
  return { kind, transaction, position, from, to, amount }
}

/** The transfers of some transactions. */
function* transfersOf(block: Block, isOne: (transaction: number) => boolean): Generator<void, ReadonlyArray<Transfer>> {
  const transfers: Array<Transfer> = []
  yield* Steps.forEach(block.transfers, (transfer) => {
    if (isOne(transfer.transaction)) transfers.push(atHand(transfer))
  })
  return transfers
}

/**
 * The block with a transfer for each of its inputs that is known; `later` are those that take outputs of earlier blocks.
 * Where outputs of watched scripts alone are kept, the block is without the transactions that touch none of these; of those
 * transactions the inputs stay that are not known.
 */
export function* touching<B extends Block>(
  block: B,
  { earlier, own, shows, touched }: BlockCoins,
  later: ReadonlyArray<Inputs.Input>,
  { isWatched, keepsAll }: Keeping
): Generator<void, B> {
  if (keepsAll) {
    const transfers = yield* transfersOf(block, () => true)
    return yield* Inputs.showInSteps({ ...block, transfers }, [...own.map(inputOf), ...later])
  }
  for (const { coin, spend } of later) if (isWatched(coin.script)) touched[spend.transaction] = 1
  const resolved = new Set(later.map(({ spend }) => spend))
  const others = resolved.size === 0 ? earlier : earlier.filter((spend) => !resolved.has(spend))
  const unknown = shows ? yield* Inputs.unshownInSteps({ spends: others, transfers: block.transfers }) : others
  if (!touched.includes(1)) return { ...block, transfers: [], spends: unknown }
  const transfers = yield* transfersOf(block, (transaction) => touched[transaction] === 1)
  const spends: Array<Spend> = []
  let next = 0
  yield* Steps.forEach(block.spends, (spend) => {
    const isUnknown = unknown[next] === spend
    if (isUnknown) next++
    if (isUnknown || touched[spend.transaction] === 1) spends.push(spend)
  })
  const isTouched = ({ spend }: Pick<Inputs.Input, "spend">) => touched[spend.transaction] === 1
  const shown = [...own.filter(isTouched).map(inputOf), ...later.filter(isTouched)]
  return yield* Inputs.showInSteps({ ...block, transfers, spends }, shown)
}

/** The inputs that take outputs of the block, whosever they are. */
export function* ownInputs(block: Block): Generator<void, ReadonlyArray<Inputs.Input>> {
  const nobodys = () => false
  return (yield* of(block, { isWatched: nobodys, isWatchedAt: nobodys, keepsAll: false })).own.map(inputOf)
}
