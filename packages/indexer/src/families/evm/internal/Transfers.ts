/** A block's transfers from its checked parts, in block order: of each transaction its coins, tokens, internal transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as TokenTransfers from "../TokenTransfers.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import { type BlockAnswer, depositType, type Listed, type Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { probablySucceeded, type ReadReceipt, type Receipt } from "./Receipts.ts"
import * as Retryable from "./Retryable.ts"
import type { Traces } from "./Trace.ts"

/** Arbitrum: coins that arrive from the layer below. */
const arbitrumDepositType = 0x64

/** Who gets a transaction's value. */
const recipientOf = ({ to }: Transaction, { contract }: Receipt): AddressBytes => {
  const recipient = to ?? contract
  if (recipient === undefined) throw new Hex.Malformed(`the receipt must have the address of the created contract`)
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
  const to = value === 0n ? undefined : recipientOf(transaction, receipt)
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
  const to = recipientOf(transaction, receipt)
  return [{ kind: "coin", transaction: index, position: 0, from: payer, to, amount: value }]
}

/** Index in the block of each log of each transaction; undefined where that is not certain. */
type Positions = ReadonlyArray<ReadonlyArray<number | undefined>>

/**
 * How the logs of a block are numbered: `counted` from 0, where the receipts are proven and so are all there are; else as
 * the node says, which may know more logs than are given.
 */
export type LogNumbering = "counted" | "given"

/**
 * Counted; or the node's index where no other log has the same; else the place among all logs, which is what the index
 * tells, where that is known and nobody else's index.
 */
const positionsOf = (receipts: ReadonlyArray<ReadReceipt>, numbering: LogNumbering): Positions => {
  const times = new Map<number, number>()
  const stated = receipts.map(({ receipt }) =>
    (receipt?.logs ?? []).map((log) => {
      const index = DecodedTransaction.parts().read(() => Hex.integer(Hex.object(log, "log").logIndex, "log.logIndex"))
      if (index !== undefined) times.set(index, (times.get(index) ?? 0) + 1)
      return index
    })
  )
  let before: number | undefined = 0
  return stated.map((indices, i) => {
    const first: number | undefined = before
    before = first === undefined || !receipts[i]!.knowsLogs ? undefined : first + indices.length
    return indices.map((index, j) => {
      const place = first === undefined ? undefined : first + j
      if (numbering === "counted" && place !== undefined) return place
      if (index !== undefined && times.get(index) === 1) return index
      return place !== undefined && times.get(place) !== 1 ? place : undefined
    })
  })
}

const word = /^0x[0-9a-fA-F]{64}$/
const hex = /^0x(?:[0-9a-fA-F]{2})*$/

/** The token transfers of a log. Throws {@link Hex.Malformed} for what is no log. */
const tokenTransfers = (item: unknown, transaction: number, position: number | undefined) => {
  const log = Hex.object(item, "log")
  const topics = Hex.array(log.topics, "log.topics")
  if (!topics.every((topic) => typeof topic === "string" && topic.length === 66)) {
    throw new Hex.Malformed("log.topics must be 0x and 64 hex digits")
  }
  if (typeof log.data !== "string" || !log.data.startsWith("0x")) throw new Hex.Malformed("log.data must be 0x hex")
  const [topic] = topics as ReadonlyArray<string>
  if (topic === undefined || !TokenTransfers.isTransfer(topic)) return []
  if (!hex.test(log.data)) throw new Hex.Malformed("log.data must be 0x hex")
  if (!(topics as ReadonlyArray<string>).every((each) => word.test(each))) {
    throw new Hex.Malformed("log.topics must be 0x and 64 hex digits")
  }
  if (position === undefined) throw new Hex.Malformed("log.logIndex is not that of this log alone")
  return TokenTransfers.ofLog(log, transaction, position)
}

const decodeTransaction = (
  { broken, hash, raw, transaction }: Listed,
  index: number,
  { broken: brokenReceipt, receipt }: ReadReceipt,
  traced: Traces[number],
  positions: Positions[number]
): DecodedTransaction.DecodedTransaction =>
  DecodedTransaction.decode(receipt === undefined ? raw : { transaction: raw, receipt: receipt.json }, (parts) => {
    for (const rule of [...broken, ...brokenReceipt]) parts.note(rule)
    const trace = traced && parts.take(traced)
    for (const rule of trace?.broken ?? []) parts.note(rule)
    const transfers: Array<Transfer> = []
    const content = { id: hash, transfers }
    if (receipt === undefined) return content
    const guessed = () => transaction && parts.read(() => probablySucceeded(transaction, receipt))
    const succeeded = receipt.succeeded ?? (trace === undefined ? guessed() : !trace.failed)
    if (succeeded === undefined) return content
    if (transaction !== undefined) {
      const { ticket } = trace ?? {}
      transfers.push(...(parts.read(() => coinTransfers(transaction, receipt, index, succeeded)) ?? []))
      const moves = ticket && parts.read(() => Retryable.transfers(transaction, ticket, index, succeeded))
      transfers.push(...(moves ?? []))
    }
    if (!succeeded) return content
    for (const [i, log] of receipt.logs.entries()) {
      transfers.push(...(parts.read(() => tokenTransfers(log, index, positions[i])) ?? []))
    }
    transfers.push(...(trace?.transfers ?? []))
    return content
  })

/**
 * Each transaction with its coins, tokens and internal moves, if it took effect, and with what a deposit or a retryable
 * ticket moved whether it took effect or not. A beacon withdrawal and a block reward are no transfers.
 */
export const decode = (
  block: BlockAnswer,
  receipts: ReadonlyArray<ReadReceipt>,
  traces: Traces | undefined,
  numbering: LogNumbering
): ReadonlyArray<DecodedTransaction.DecodedTransaction> => {
  const positions = positionsOf(receipts, numbering)
  return block.listed.map((listed, index) =>
    decodeTransaction(listed, index, receipts[index]!, traces?.[index], positions[index]!)
  )
}
