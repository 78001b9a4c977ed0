/**
 * Blocks of most kinds, read and proved by a kernel from the bytes that the node answered: the same blocks as those
 * which `BlockAnswer`, `BlockProof`, `Receipts` and `Transfers` come to, at a part of the work. These read whatever the kernel
 * leaves to them.
 */
import type {
  Block,
  BlockHeader,
  ContractLog,
  TokenTransfer,
  TransactionParties,
  Transfer
} from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { isCoinContract } from "@headwater/core/evm/CoinContract"
import * as EvmKernel from "@headwater/core/evm/EvmKernel"
import * as Bytes from "@headwater/core/Bytes"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import { JsonText } from "../../node/JsonText.ts"
import type * as Proof from "../../node/Proof.ts"
import * as TokenTransfers from "../TokenTransfers.ts"
import { type Trace, type Traces, transferOf } from "./Trace.ts"

export interface KernelBlock {
  readonly header: BlockHeader
  /** Of the transactions, 32 bytes each. */
  readonly hashes: Uint8Array
  readonly count: number
  /** With the internal transfers of the traces; undefined where one of these is not understood in full. */
  readonly withTraces: (traces: Traces | undefined) => Block | undefined
}

/** Whether the kernel may read a chain's block at a height, and prove as much as `level` says. */
export const mayRead = ({ evm }: Chain, level: Proof.Level, height: number): boolean => {
  const { byzantium = 0, nitro = 0 } = evm ?? {}
  return level !== "full" && height >= byzantium && height >= nitro
}

/** Whether Bor may have added the last transaction, which no root covers. */
const mayBeStateSync = (last: TransactionParties | undefined) => Bytes.isZero(last?.from) && Bytes.isZero(last?.to)

/** What comes of all transactions, in their order. */
interface Content {
  readonly ids: Array<Uint8Array>
  readonly succeeded: Array<boolean>
  readonly transfers: Array<Transfer>
  /** How many transfers there are up to the end of each transaction. */
  readonly transfersTo: Array<number>
  readonly parties: Array<TransactionParties>
  readonly logs: Array<ContractLog>
}

const tokenOf = (moved: EvmKernel.Moved, log: ContractLog): TokenTransfer | undefined => {
  const { contract, position, transaction } = log
  if (moved.token === "none" || moved.token === "other" || isCoinContract(contract)) return undefined
  const { from, number, to, token } = moved
  const parties = { kind: "token", transaction, position, batchIndex: 0, contract, token, from, to } as const
  return token === "fungible"
    ? { ...parties, amount: number, tokenId: undefined }
    : { ...parties, amount: 1n, tokenId: number }
}

function* contentOf(records: EvmKernel.BlockRecords, receipts: Buffer): Generator<void, Content> {
  const content: Content = { ids: [], succeeded: [], transfers: [], transfersTo: [], parties: [], logs: [] }
  const { ids, logs, parties, transfers, transfersTo } = content
  const textAt = (from: number, to: number) => receipts.toString("latin1", from, to)
  for (let transaction = 0, position = 0; transaction < records.transactionCount; transaction++) {
    const { from, hash, logs: logCount, succeeded, to, value } = records.transaction(transaction)
    ids.push(hash)
    content.succeeded.push(succeeded)
    parties.push({ kind: "transaction", transaction, from, to })
    if (succeeded && value !== 0n) transfers.push({ kind: "coin", transaction, position: 0, from, to, amount: value })
    const end = position + logCount
    for (; succeeded && position < end; position++) {
      const { contract, dataFrom, dataTo, moved, topics } = records.log(position)
      const isTransfer = moved.token === "fungible" || moved.token === "non-fungible"
      const log: ContractLog = {
        transaction,
        position,
        contract,
        data: textAt(dataFrom, dataTo),
        topics: topics.map((from, place) =>
          place === 0 && isTransfer ? TokenTransfers.transferTopic : textAt(from, from + 66).toLowerCase()
        )
      }
      logs.push(log)
      const token = tokenOf(moved, log)
      if (token !== undefined) transfers.push(token)
      else if (moved.token === "other") for (const each of yield* TokenTransfers.ofLog(log)) transfers.push(each)
    }
    position = end
    transfersTo.push(transfers.length)
    yield
  }
  return content
}

/** Whether the trace of a transaction is there, and nothing of it was left out; that of a ticket moves coins of its own. */
const isWhole = (trace: Traces[number]): trace is Result.Success<Trace, string> =>
  trace !== undefined &&
  Result.isSuccess(trace) &&
  trace.success.broken.length === 0 &&
  trace.success.ticket === undefined

const withTraces = (
  header: BlockHeader,
  { ids, logs, parties, succeeded, transfers, transfersTo }: Content,
  traces: Traces | undefined
): Block | undefined => {
  const blockOf = (transfers: ReadonlyArray<Transfer>): Block => ({
    ...header,
    transactions: ids,
    transfers,
    spends: [],
    parties,
    logs
  })
  if (traces === undefined) return blockOf(transfers)
  if (!traces.every(isWhole)) return undefined
  const all: Array<Transfer> = []
  let from = 0
  for (const [index, { success }] of traces.entries()) {
    for (; from < transfersTo[index]!; from++) all.push(transfers[from]!)
    if (succeeded[index] === true) for (const transfer of success.transfers) all.push(transfer)
  }
  return blockOf(all)
}

function* kernelBlock(
  chain: Chain,
  height: number,
  receipts: Buffer,
  records: EvmKernel.BlockRecords
): Generator<void, KernelBlock | undefined> {
  const { hash, parent, time, transactionCount: count } = records
  if (records.height !== height || count === 0) return undefined
  const header = { height, hash, parent, time }
  const content = yield* contentOf(records, receipts)
  if (chain.evm?.stateSync === true && mayBeStateSync(content.parties.at(-1))) return undefined
  const hashes = new Uint8Array(32 * count)
  for (const [index, id] of content.ids.entries()) hashes.set(id, 32 * index)
  return { header, hashes, count, withTraces: (traces) => withTraces(header, content, traces) }
}

/**
 * The block of a node's answers for the block at a height and its receipts, proved as far as `level` says; undefined where it
 * is for others to read, or to refuse.
 */
export function* read(
  chain: Chain,
  level: Proof.Level,
  height: number,
  block: unknown,
  receipts: unknown
): Generator<void, KernelBlock | undefined> {
  if (!(block instanceof JsonText) || !(receipts instanceof JsonText)) return undefined
  if (!mayRead(chain, level, height)) return undefined
  const isOpStack = chain.evm?.dataFee === "op-stack"
  const texts = { block: block.bytes, receipts: receipts.bytes, proves: level === "roots", isOpStack }
  return yield* EvmKernel.block(texts, (records) => kernelBlock(chain, height, receipts.bytes, records))
}

/** Traces by `callTracer` of the transactions with these hashes, 32 bytes each; undefined where they are for others to read. */
export function* traces(answer: unknown, hashes: Uint8Array): Generator<void, Traces | undefined> {
  if (!(answer instanceof JsonText)) return undefined
  const found = yield* EvmKernel.traces(answer.bytes, hashes)
  if (found === undefined) return undefined
  return yield* TimeSlice.map(found, ({ failed, frames }, transaction) =>
    Result.succeed({
      failed,
      broken: [],
      transfers: frames.flatMap(({ value, ...call }) => transferOf({ ...call, amount: value }, transaction) ?? [])
    })
  )
}
