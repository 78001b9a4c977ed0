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

/**
 * A block of `count` transactions: those of the recorded block again and again, each with a nonce, a hash and a sender of
 * its own, and its recorded calls `calls` times. At `place` its transactions are others than at any other height.
 */
export const repeated = (
  recorded: EvmNode.RecordedBlock,
  count: number,
  calls: number,
  place?: Place
): EvmNode.RecordedBlock => {
  const firstNonce = place === undefined ? 0 : place.height * count
  const number = place === undefined ? {} : { blockNumber: quantity(place.height) }
  const kept = recorded.block.transactions.flatMap((json: EvmNode.Json, index: number) =>
    json.to == null || Number(json.type ?? 0) > 2 ? [] : [index]
  )
  const made = Array.from({ length: count }, (_, index) => {
    const from = kept[index % kept.length]!
    const json = {
      ...recorded.block.transactions[from],
      ...number,
      nonce: quantity(firstNonce + index),
      transactionIndex: quantity(index)
    }
    const transaction = { json, type: Number(json.type ?? 0) } as unknown as Transaction
    const { bytes, signed } = TransactionForm.hashed(transaction)!
    return {
      from,
      bytes,
      json: { ...json, hash: hex(keccak(bytes)), from: hex(Sender.of(transaction, signed!, keccak, recover)) }
    }
  })
  const union = new Uint8Array(LogsBloom.length)
  let position = 0
  const receipts = made.map(({ from, json }, index) => {
    const receipt = recorded.receipts[from]!
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
    ...(place && { number: quantity(place.height), parentHash: place.parent, timestamp: quantity(place.time) }),
    logsBloom: hex(union),
    transactionsRoot: rootOf(made.map(({ bytes }) => bytes)),
    receiptsRoot: rootOf(receipts.map(bytesOf))
  }
  const hash = hex(HeaderHash.of(header, keccak))
  const block = { ...header, hash, transactions: made.map(({ json }) => ({ ...json, blockHash: hash })) }
  const callTracer = made.map(({ from }) => {
    const { calls: inner = [], ...top } = recorded.callTracer![from]!
    return { ...top, calls: Array.from({ length: calls }, () => inner).flat() }
  })
  return {
    block,
    receipts: receipts.map((receipt) => ({ ...receipt, blockHash: hash })),
    callTracer,
    traceBlock: callTracer.flatMap((frame, index) => EvmNode.flatten(block, index, frame))
  }
}
