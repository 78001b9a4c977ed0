/** A block's transfers from its checked parts, in block order: of each transaction its coins, tokens, internal transfers. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, ContractLog, TransactionParties, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as TokenTransfers from "../TokenTransfers.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import { type BlockAnswer, depositType, type Listed, syncsState, type Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { probablySucceeded, type ReadReceipt, type Receipt } from "./Receipts.ts"
import * as Retryable from "./Retryable.ts"
import * as StateSyncCoins from "./StateSyncCoins.ts"
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

/** Whom a transaction names; who gets the refunds of a ticket stands beside its sender. */
const partiesOf = (
  transaction: Transaction,
  receipt: Receipt | undefined,
  index: number
): ReadonlyArray<TransactionParties> => {
  const { from, to } = transaction
  const named = { kind: "transaction", transaction: index, from } as const
  const refundTo = Retryable.refundTo(transaction)
  const isFurther = refundTo !== undefined && ![from, to].some((other) => other && Bytes.equal(other, refundTo))
  return [{ ...named, to: to ?? receipt?.contract }, ...(isFurther ? [{ ...named, to: refundTo }] : [])]
}

/** Index in the block of each log of each transaction; undefined where that is not certain. */
type Positions = ReadonlyArray<ReadonlyArray<number | undefined>>

/**
 * How the logs of a block are numbered: `counted` from 0, where the receipts are proven and so are all there are; else as
 * the node says, which may know more logs than are given.
 */
type LogNumbering = "counted" | "given"

/** Logs of a transaction that are looked at between two steps, if they are no larger than most. */
const logsOfStep = 16

/**
 * Counted; or the node's index where no other log has the same; else the place among all logs, which is what the index
 * tells, where that is known and nobody else's index.
 */
function* positionsOf(receipts: ReadonlyArray<ReadReceipt>, numbering: LogNumbering): Generator<void, Positions> {
  const times = new Map<number, number>()
  const stated: Array<ReadonlyArray<number | undefined>> = []
  for (const { receipt } of receipts) {
    const indices: Array<number | undefined> = []
    for (const log of receipt?.logs ?? []) {
      const read = Result.try(() => Hex.integer(Hex.object(log, "log").logIndex, "log.logIndex"))
      const index = Result.getOrUndefined(read)
      if (index !== undefined) times.set(index, (times.get(index) ?? 0) + 1)
      indices.push(index)
      if (indices.length % logsOfStep === 0) yield
    }
    stated.push(indices)
    yield
  }
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
const notHex = /[^0-9a-fA-F]/

/** A log as the node gives it, of which only the length of the topics is certain. */
interface ShownLog {
  readonly address: unknown
  readonly topics: ReadonlyArray<string>
  readonly data: string
}

/** Throws {@link Hex.Malformed} for what is no log. */
const shownLog = (item: unknown): ShownLog => {
  const { address, data, topics: listed } = Hex.object(item, "log")
  const topics = Hex.array(listed, "log.topics")
  if (!topics.every((topic) => typeof topic === "string" && topic.length === 66)) {
    throw new Hex.Malformed("log.topics must be 0x and 64 hex digits")
  }
  if (typeof data !== "string" || !data.startsWith("0x")) throw new Hex.Malformed("log.data must be 0x hex")
  return { address, topics: topics as ReadonlyArray<string>, data }
}

const mayBeTransfer = ({ topics: [topic] }: ShownLog): boolean =>
  topic !== undefined && TokenTransfers.isTransfer(topic)

/** Throws {@link Hex.Malformed} where a part is not what it should be. */
const contractLog = ({ address, data, topics }: ShownLog, transaction: number, position: number | undefined) => {
  if (data.length % 2 !== 0 || notHex.test(data.slice(2))) throw new Hex.Malformed("log.data must be 0x hex")
  if (!topics.every((each) => word.test(each))) throw new Hex.Malformed("log.topics must be 0x and 64 hex digits")
  if (position === undefined) throw new Hex.Malformed("log.logIndex is not that of this log alone")
  const contract = Hex.address(address, "log.address")
  const log: ContractLog = { transaction, position, contract, data, topics: topics.map((topic) => topic.toLowerCase()) }
  return log
}

/** In hex digits. */
const largeData = 65_536

const isLarge = ({ data }: ContractLog): boolean => data.length > largeData

function* readTransaction(
  { broken, hash, transaction }: Listed,
  index: number,
  { broken: brokenReceipt, receipt }: ReadReceipt,
  traced: Traces[number],
  positions: Positions[number],
  parts: DecodedTransaction.Parts
): Generator<void, DecodedTransaction.Content> {
  // Logs and frames are found by the hash alone.
  for (const rule of broken) parts.note(rule, ["coin"])
  for (const rule of brokenReceipt) parts.note(rule)
  // Tickets move coins that the trace alone shows.
  const trace = traced && parts.take(traced, ["coin", "internal"])
  for (const rule of trace?.broken ?? []) parts.note(rule, ["coin", "internal"])
  const transfers: Array<Transfer> = []
  const logs: Array<ContractLog> = []
  const parties = (transaction && parts.read(() => partiesOf(transaction, receipt, index), ["coin"])) ?? []
  const content = { id: hash, transfers, logs, parties }
  if (receipt === undefined) return content
  const guessed = () => transaction && parts.read(() => probablySucceeded(transaction, receipt))
  const succeeded = receipt.succeeded ?? (trace === undefined ? guessed() : !trace.failed)
  if (succeeded === undefined) {
    parts.note("whether the transaction took effect is not known")
    return content
  }
  if (transaction !== undefined) {
    const { ticket } = trace ?? {}
    transfers.push(...(parts.read(() => coinTransfers(transaction, receipt, index, succeeded), ["coin"]) ?? []))
    const moves = ticket && parts.read(() => Retryable.transfers(transaction, ticket, index, succeeded), ["coin"])
    transfers.push(...(moves ?? []))
  }
  if (!succeeded) return content
  const isStateSync = transaction !== undefined && syncsState(transaction)
  for (const [i, item] of receipt.logs.entries()) {
    if (i % logsOfStep === logsOfStep - 1) yield
    const shown = parts.read(() => shownLog(item), ["token"])
    if (shown === undefined) continue
    const isToken = mayBeTransfer(shown)
    const isCoin = isStateSync && StateSyncCoins.isMove(shown)
    const log = parts.read(() => contractLog(shown, index, positions[i]), isToken ? ["token"] : isCoin ? ["coin"] : [])
    if (log === undefined) continue
    logs.push(log)
    const coin = isCoin ? parts.read(() => StateSyncCoins.coinOf(log), ["coin"]) : undefined
    if (coin !== undefined) transfers.push(coin)
    if (!isToken) continue
    const tokens = isLarge(log)
      ? yield* parts.readInSlices(() => TokenTransfers.ofLog(log), ["token"])
      : parts.read(() => TimeSlice.atOnce(TokenTransfers.ofLog(log)), ["token"])
    for (const token of tokens ?? []) transfers.push(token)
  }
  for (const transfer of trace?.transfers ?? []) transfers.push(transfer)
  return content
}

const decodeTransaction = (
  listed: Listed,
  index: number,
  receipt: ReadReceipt,
  traced: Traces[number],
  positions: Positions[number]
): Generator<void, DecodedTransaction.DecodedTransaction> =>
  DecodedTransaction.decodeInSlices(
    receipt.receipt === undefined ? listed.raw : { transaction: listed.raw, receipt: receipt.receipt.json },
    (parts) => readTransaction(listed, index, receipt, traced, positions, parts)
  )

/**
 * Each transaction with its coins, tokens and internal moves, if it took effect, and with what a deposit or a retryable
 * ticket moved whether it took effect or not. A beacon withdrawal and a block reward are no transfers.
 */
export function* decode(
  block: BlockAnswer,
  receipts: ReadonlyArray<ReadReceipt>,
  traces: Traces | undefined,
  numbering: LogNumbering
): Generator<void, ReadonlyArray<DecodedTransaction.DecodedTransaction>> {
  const positions = yield* positionsOf(receipts, numbering)
  const decoded: Array<DecodedTransaction.DecodedTransaction> = []
  for (const [index, listed] of block.listed.entries()) {
    decoded.push(yield* decodeTransaction(listed, index, receipts[index]!, traces?.[index], positions[index]!))
    yield
  }
  return decoded
}
