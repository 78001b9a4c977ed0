/** A block's transfers from its checked parts, in block order: of each transaction its coins, tokens, internal transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as TokenTransfers from "../TokenTransfers.ts"
import { type BlockAnswer, depositType, isStateSync, type Transaction } from "./BlockAnswer.ts"
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
 * How the logs of a block are numbered: `counted` from 0, where the receipts are proven and so are all there are; else as
 * the node says, which may know more logs than are given.
 */
export type LogNumbering = "counted" | "given"

/** Nodes number the logs of a state-sync transaction anew, in some blocks of Polygon (erigon #16491). */
const logPositions = (numbering: LogNumbering) => {
  let last = -1
  return (log: Hex.Json, isStateSync: boolean): number => {
    const given = Hex.integer(log.logIndex, "log.logIndex")
    if (given <= last && !isStateSync) throw new Hex.Malformed("log indices must rise within a block")
    last = numbering === "counted" || given <= last ? last + 1 : given
    return last
  }
}

/**
 * Coins, tokens and internal moves of all transactions that took effect, and what a deposit or a retryable ticket moved
 * whether it took effect or not. A beacon withdrawal and a block reward are no transfers. Throws {@link Hex.Malformed}
 * where log indices do not rise, or a created contract is not named.
 */
export const of = (
  block: BlockAnswer,
  receipts: ReadonlyArray<Receipt>,
  traces: ReadonlyArray<Trace> | undefined,
  numbering: LogNumbering
): ReadonlyArray<Transfer> => {
  const transfers: Array<Transfer> = []
  const positionOf = logPositions(numbering)
  for (const [index, transaction] of block.transactions.entries()) {
    const receipt = receipts[index]!
    const trace = traces?.[index]
    const logs = receipt.logs.map((item) => Hex.object(item, "log"))
    const positions = logs.map((log) => positionOf(log, isStateSync(transaction)))
    const succeeded =
      receipt.succeeded ?? (trace === undefined ? probablySucceeded(transaction, receipt) : !trace.failed)
    transfers.push(...coinTransfers(transaction, receipt, index, succeeded))
    if (trace?.ticket !== undefined) transfers.push(...Retryable.transfers(transaction, trace.ticket, index, succeeded))
    if (!succeeded) continue
    for (const [at, log] of logs.entries()) transfers.push(...TokenTransfers.ofLog(log, index, positions[at]))
    if (trace !== undefined) transfers.push(...trace.transfers)
  }
  return transfers
}
