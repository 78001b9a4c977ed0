/** A block's transfers from its checked parts, in block order: of each transaction its coins, tokens, internal transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as TokenTransfers from "../TokenTransfers.ts"
import { type BlockAnswer, depositType, type Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { probablySucceeded, type Receipt } from "./Receipts.ts"
import * as Retryable from "./Retryable.ts"
import type { Trace } from "./Trace.ts"

/** Arbitrum: coins that arrive from the layer below. */
const arbitrumDepositType = 0x64

/** Who gets a transaction's value. */
const recipientOf = ({ to }: Transaction, { contract }: Receipt, index: number): AddressBytes => {
  const recipient = to ?? contract
  if (recipient === undefined) throw new Hex.Malformed(`receipt ${index} must have the address of the created contract`)
  return recipient
}

/**
 * An OP-stack deposit, net for each address: `from` gains the mint less the value, `to` the value, and one that is both
 * gains the mint. Of a deposit that failed, the mint arrives all the same.
 */
const depositTransfers = (
  transaction: Transaction,
  receipt: Receipt,
  index: number,
  succeeded: boolean
): ReadonlyArray<CoinTransfer> => {
  const { from, mint } = transaction
  const value = succeeded ? transaction.value : 0n
  const to = value === 0n ? undefined : recipientOf(transaction, receipt, index)
  const isBoth = to !== undefined && Bytes.equal(from, to)
  const gained = isBoth ? mint : mint - value
  const coin = { kind: "coin", transaction: index } as const
  if (mint === 0n && to !== undefined && !isBoth) return [{ ...coin, position: 0, from, to, amount: value }]
  return [
    ...(to === undefined || isBoth ? [] : [{ ...coin, position: 0, from: undefined, to, amount: value }]),
    ...(gained > 0n ? [{ ...coin, position: isBoth ? 0 : 1, from: undefined, to: from, amount: gained }] : []),
    ...(gained < 0n ? [{ ...coin, position: 0, from, to: undefined, amount: -gained }] : [])
  ]
}

/** The coins that a transaction moved itself. Those of an Arbitrum deposit are paid by nobody on the chain. */
const coinTransfers = (
  transaction: Transaction,
  receipt: Receipt,
  index: number,
  succeeded: boolean
): ReadonlyArray<CoinTransfer> => {
  const { from, type, value } = transaction
  if (type === depositType) return depositTransfers(transaction, receipt, index, succeeded)
  if (!succeeded || value === 0n) return []
  const payer = type === arbitrumDepositType ? undefined : from
  const to = recipientOf(transaction, receipt, index)
  return [{ kind: "coin", transaction: index, position: 0, from: payer, to, amount: value }]
}

/**
 * Coins, tokens and internal moves of all transactions that took effect, and what a deposit or a retryable ticket moved
 * whether it took effect or not. A beacon withdrawal and a block reward are no transfers. Throws {@link Hex.Malformed}
 * where log indices do not rise, or a created contract is not named.
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
    transfers.push(...coinTransfers(transaction, receipt, index, succeeded))
    if (trace?.ticket !== undefined) transfers.push(...Retryable.transfers(transaction, trace.ticket, index, succeeded))
    if (!succeeded) continue
    for (const item of receipt.logs) transfers.push(...TokenTransfers.ofLog(item as Hex.Json, index))
    if (trace !== undefined) transfers.push(...trace.transfers)
  }
  return transfers
}
