/** Large EVM blocks made of a recorded one, whose transactions, receipts and header hash to what they say. */
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import { createKeccak } from "hash-wasm"
import { recover } from "tiny-secp256k1"
import type { Transaction } from "../../../src/families/evm/internal/BlockAnswer.ts"
import * as HeaderHash from "../../../src/families/evm/internal/HeaderHash.ts"
import * as LogsBloom from "../../../src/families/evm/internal/LogsBloom.ts"
import * as ReceiptForm from "../../../src/families/evm/internal/ReceiptForm.ts"
import * as Sender from "../../../src/families/evm/internal/Sender.ts"
import * as TransactionForm from "../../../src/families/evm/internal/TransactionForm.ts"
import * as Trie from "../../../src/families/evm/internal/Trie.ts"
import { hex } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

const hasher = await createKeccak(256)
export const keccak: Trie.Hash = (bytes) => hasher.init().update(bytes).digest("binary")

const quantity = (number: number) => `0x${number.toString(16)}`

/** Where a block stands that follows another one. */
export interface Place {
  readonly height: number
  readonly parent: string
  /** Seconds since the Unix epoch. */
  readonly time: number
}

/** What each block of a chain has of its own: a transaction at the begin, with its receipt, or fields of the header. */
export interface Own {
  readonly first?: { readonly transaction: EvmNode.Json; readonly receipt: EvmNode.Json }
  readonly header?: EvmNode.Json
}

const zeros = (bytes: number) => `0x${"00".repeat(bytes)}`
const firstReceipt = { status: "0x1", cumulativeGasUsed: "0xb44c", gasUsed: "0xb44c", logs: [], logsBloom: zeros(256) }

/** OP stack: the attributes of the block below, as since Ecotone; the root of withdrawals as since Isthmus. */
export const opStack: Own = {
  first: {
    transaction: {
      ...{ type: "0x7e", nonce: "0x1c9c3b", sourceHash: `0x${"5e".repeat(32)}`, mint: "0x0", isSystemTx: false },
      ...{ from: "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001", to: "0x4200000000000000000000000000000000000015" },
      ...{
        gas: "0xf4240",
        gasPrice: "0x0",
        value: "0x0",
        input: `0x440a5e20${"00".repeat(160)}`,
        v: "0x0",
        r: "0x0",
        s: "0x0"
      }
    },
    receipt: { ...firstReceipt, type: "0x7e", depositNonce: "0x1c9c3b", depositReceiptVersion: "0x1" }
  },
  header: { withdrawals: [], withdrawalsRoot: `0x${"15".repeat(32)}`, requestsHash: `0x${"e3".repeat(32)}` }
}

const arbos = "0x00000000000000000000000000000000000a4b05"

/** Nitro: ArbOS tells itself of the block. */
export const nitro: Own = {
  first: {
    transaction: {
      ...{
        type: "0x6a",
        chainId: "0xa4b1",
        from: arbos,
        to: arbos,
        value: "0x0",
        input: `0x6bf6a42d${"00".repeat(128)}`,
        nonce: "0x0"
      },
      ...{ gas: "0x0", gasPrice: "0x0", v: "0x0", r: "0x0", s: "0x0" }
    },
    receipt: { ...firstReceipt, type: "0x6a", cumulativeGasUsed: "0x0", gasUsed: "0x0" }
  }
}

/** Avalanche: the fields of Etna and Granite. */
export const avalanche: Own = {
  header: {
    ...{ extDataHash: `0x${"56".repeat(32)}`, extDataGasUsed: "0x0", blockGasCost: "0x0", blobGasUsed: "0x0" },
    ...{ excessBlobGas: "0x0", parentBeaconBlockRoot: zeros(32), timestampMilliseconds: "0x19c0e1b2c3d" },
    ...{ minDelayExcess: "0x7a1200", withdrawals: undefined, withdrawalsRoot: undefined }
  }
}

/**
 * A block of `count` transactions: those of the recorded block again and again, each with a nonce, a hash and a sender of
 * its own, and its recorded calls `calls` times; before these what the chain has of its own. At `place` its transactions are
 * others than at any other height.
 */
export const repeated = (
  recorded: EvmNode.RecordedBlock,
  count: number,
  calls: number,
  place?: Place,
  own: Own = {}
): EvmNode.RecordedBlock => {
  const firstNonce = place === undefined ? 0 : place.height * count
  const number = place === undefined ? {} : { blockNumber: quantity(place.height) }
  const kept = recorded.block.transactions.flatMap((json: EvmNode.Json, index: number) =>
    json.to == null || Number(json.type ?? 0) > 2 ? [] : [index]
  )
  const { first } = own
  const made = Array.from({ length: count + (first === undefined ? 0 : 1) }, (_, index) => {
    const isOwn = first !== undefined && index === 0
    const from = kept[index % kept.length]!
    const json = {
      ...(isOwn ? first.transaction : { ...recorded.block.transactions[from], nonce: quantity(firstNonce + index) }),
      ...number,
      transactionIndex: quantity(index)
    } as EvmNode.Json
    const transaction = { json, type: Number(json.type ?? 0) } as unknown as Transaction
    const { bytes, signed } = TransactionForm.hashed(transaction)!
    const { calls: inner = [], ...top } = recorded.callTracer![from]!
    return {
      bytes,
      json: {
        ...json,
        hash: hex(keccak(bytes)),
        ...(signed && { from: hex(Sender.of(transaction, signed, keccak, recover)) })
      } as EvmNode.Json,
      receipt: isOwn ? first.receipt : recorded.receipts[from]!,
      trace: isOwn
        ? { type: "CALL", from: json.from, to: json.to, value: "0x0", gas: "0x0", gasUsed: "0x0", input: json.input }
        : { ...top, calls: Array.from({ length: calls }, () => inner).flat() }
    }
  })
  const union = new Uint8Array(LogsBloom.length)
  let position = 0
  const receipts = made.map(({ json, receipt }, index) => {
    LogsBloom.join(union, LogsBloom.given(receipt.logsBloom, "logsBloom")!)
    return {
      ...receipt,
      ...{ ...number, transactionHash: json.hash, transactionIndex: quantity(index) },
      logs: (receipt.logs as ReadonlyArray<EvmNode.Json>).map((log) => ({
        ...log,
        ...number,
        logIndex: quantity(position++)
      }))
    }
  })
  const bytesOf = (receipt: EvmNode.Json, index: number) =>
    ReceiptForm.hashed(
      { json: receipt, logs: receipt.logs, succeeded: receipt.status === "0x1", contract: undefined },
      Number(made[index]!.json.type ?? 0),
      LogsBloom.given(receipt.logsBloom, "logsBloom")!
    )
  const rootOf = (values: ReadonlyArray<Uint8Array>) => hex(TimeSlice.atOnce(Trie.rootOfList(values, keccak)))
  const header = {
    ...recorded.block,
    ...own.header,
    ...(place && { number: quantity(place.height), parentHash: place.parent, timestamp: quantity(place.time) }),
    logsBloom: hex(union),
    transactionsRoot: rootOf(made.map(({ bytes }) => bytes)),
    receiptsRoot: rootOf(receipts.map(bytesOf))
  }
  const hash = hex(HeaderHash.of(header, keccak))
  const block = { ...header, hash, transactions: made.map(({ json }) => ({ ...json, blockHash: hash })) }
  const callTracer = made.map(({ trace }) => trace)
  return {
    block,
    receipts: receipts.map((receipt) => ({ ...receipt, blockHash: hash })),
    callTracer,
    traceBlock: callTracer.flatMap((frame, index) => EvmNode.flatten(block, index, frame))
  }
}
