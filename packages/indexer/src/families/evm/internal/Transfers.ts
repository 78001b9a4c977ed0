/** A block's transfers from its checked parts, in block order: of each transaction its coins, tokens, internal moves. */
import type { CoinTransfer, Transfer } from "@headwater/core/Block"
import * as TokenTransfers from "../TokenTransfers.ts"
import type { BlockAnswer, Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { probablySucceeded, type Receipt } from "./Receipts.ts"
import type { Trace } from "./Trace.ts"

/** Arbitrum: coins that arrive from the layer below. */
const arbitrumDepositType = 0x64

/**
 * Who pays for a transaction's value: nobody on this chain where the coins were made for it, by an Arbitrum deposit or
 * by an OP-stack deposit whose mint covers the value.
 */
const payerOf = ({ from, mint, type, value }: Transaction) =>
  type === arbitrumDepositType || (mint > 0n && mint >= value) ? undefined : from

const coinTransfer = (transaction: Transaction, receipt: Receipt, index: number): CoinTransfer => {
  const to = transaction.to ?? receipt.contract
  if (to === undefined) throw new Hex.Malformed(`receipt ${index} must have the address of the created contract`)
  return {
    kind: "coin",
    transaction: index,
    position: 0,
    from: payerOf(transaction),
    to,
    amount: transaction.value
  }
}

/**
 * Coins, tokens and internal moves of all transactions that took effect. A mint, a withdrawal and a block reward are no
 * transfers. Throws {@link Hex.Malformed} where log indices do not rise, or a created contract is not named.
 */
export const of = (
  block: BlockAnswer,
  receipts: ReadonlyArray<Receipt>,
  traces: ReadonlyArray<Trace> | undefined
): ReadonlyArray<Transfer> => {
  const transfers: Array<Transfer> = []
  let lastLog = -1
  for (const [index, transaction] of block.transactions.entries()) {
    const receipt = receipts[index]!
    const trace = traces?.[index]
    for (const item of receipt.logs) {
      const logIndex = Hex.integer(Hex.object(item, "log").logIndex, "log.logIndex")
      if (logIndex <= lastLog) throw new Hex.Malformed("log indices must rise within a block")
      lastLog = logIndex
    }
    const succeeded =
      receipt.succeeded ?? (trace === undefined ? probablySucceeded(transaction, receipt) : !trace.failed)
    if (!succeeded) continue
    if (transaction.value > 0n) transfers.push(coinTransfer(transaction, receipt, index))
    for (const item of receipt.logs) transfers.push(...TokenTransfers.ofLog(item as Hex.Json, index))
    if (trace !== undefined) transfers.push(...trace.transfers)
  }
  return transfers
}
