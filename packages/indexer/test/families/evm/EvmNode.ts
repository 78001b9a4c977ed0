/** Recorded EVM blocks, and the answers of a fake node that has them. */
import { type Answer, RpcError } from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"

/** Recorded JSON of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into recorded answers of every form
export type Json = Readonly<Record<string, any>>

export interface RecordedBlock {
  readonly block: Json
  readonly receipts: ReadonlyArray<Json>
  /** Results of the callTracer, one a transaction. */
  readonly callTracer?: ReadonlyArray<Json> | undefined
  readonly traceBlock?: ReadonlyArray<Json> | undefined
}

export interface Options {
  /** Methods that this node does not have. */
  readonly without?: ReadonlyArray<string>
  readonly chainId?: string
  readonly finalized?: string | null
}

/** Answers as a node with exactly these blocks, of which the last is its newest. */
export const answers = (blocks: ReadonlyArray<RecordedBlock>, options: Options = {}): Answer => {
  const newest = blocks.at(-1)!
  const find = (key: unknown) =>
    key === "latest"
      ? newest
      : blocks.find(({ block }) => [block.hash, block.number].some((name) => name.toLowerCase() === key))
  const header = (block: Json) => ({ ...block, transactions: block.transactions.map((tx: Json) => tx.hash) })
  const methods: Record<string, Answer> = {
    eth_chainId: () => options.chainId ?? "0x1",
    eth_getBlockByNumber: (_, [tag, full]) => {
      if (tag === "finalized") {
        if (options.finalized === undefined) throw new RpcError(-39001, "Unknown block")
        if (options.finalized === null) return null
      }
      const recorded = tag === "finalized" ? find(options.finalized) : find(tag)
      return recorded === undefined ? null : full === true ? recorded.block : header(recorded.block)
    },
    eth_getBlockReceipts: (_, [key]) => find(key)?.receipts ?? null,
    eth_getTransactionReceipt: (_, [hash]) =>
      blocks.flatMap(({ receipts }) => receipts).find((receipt) => receipt.transactionHash === hash) ?? null,
    debug_traceBlockByHash: (_, [hash]) => {
      const recorded = find(hash)
      if (recorded === undefined) throw new RpcError(-32000, `block ${hash} not found`)
      if (recorded.block.number === "0x0") throw new RpcError(-32000, "genesis is not traceable")
      return recorded.callTracer!.map((result, index) => ({ txHash: recorded.block.transactions[index]?.hash, result }))
    },
    trace_block: (_, [tag]) => find(tag)?.traceBlock ?? null
  }
  const lacks = (method: string) =>
    options.without?.includes(method) ||
    (method === "debug_traceBlockByHash" && blocks.some(({ callTracer }) => callTracer === undefined)) ||
    (method === "trace_block" && blocks.some(({ traceBlock }) => traceBlock === undefined))
  return (method, params) => {
    const answer = lacks(method) ? undefined : methods[method]
    if (answer === undefined) throw new RpcError(-32601, `the method ${method} does not exist/is not available`)
    return answer(method, params)
  }
}

/** A callTracer's tree as `trace_block` would list it. */
export const flatten = (block: Json, index: number, frame: Json, address: ReadonlyArray<number> = []): Array<Json> => {
  const { type, from, to, value, error, calls = [] } = frame
  const kind = type === "SELFDESTRUCT" ? "suicide" : type.startsWith("CREATE") ? "create" : "call"
  const action = {
    suicide: { address: from, refundAddress: to, balance: value },
    create: { from, value, init: "0x", creationMethod: type.toLowerCase() },
    call: { from, to, value: value ?? "0x0", callType: type.toLowerCase() }
  }[kind]
  return [
    {
      action,
      blockHash: block.hash,
      blockNumber: Number(block.number),
      ...(error === undefined ? { result: kind === "create" ? { address: to } : {} } : { error, result: null }),
      subtraces: calls.length,
      traceAddress: address,
      transactionHash: block.transactions[index].hash,
      transactionPosition: index,
      type: kind
    },
    ...calls.flatMap((call: Json, child: number) => flatten(block, index, call, [...address, child]))
  ]
}

export interface Expected {
  readonly tokenTransfers: ReadonlyArray<Json>
  readonly internalFrames: ReadonlyArray<Json>
}

/** One of the prepared blocks in `evm-rpc/bundles`, and what is in it. */
export const bundle = (name: string): { readonly recorded: RecordedBlock; readonly expected: Expected } => {
  const json = Fixtures.json(`evm-rpc/bundles/${name}.json.gz`) as Json
  const expected = Fixtures.json(`evm-rpc/bundles/${name}.expected.json.gz`) as Json
  const block = json.eth_getBlockByNumber as Json
  const callTracer = (json.debug_traceBlock_callTracer ?? undefined) as ReadonlyArray<Json> | undefined
  return {
    recorded: {
      block,
      receipts: json.eth_getBlockReceipts,
      callTracer,
      traceBlock: callTracer?.flatMap((frame, index) => flatten(block, index, frame))
    },
    expected: { tokenTransfers: expected.tokenTransfers ?? [], internalFrames: expected.internalFrames ?? [] }
  }
}

const quantity = (text: string | number | undefined) => `0x${BigInt(text ?? "0").toString(16)}`

const quantities = (json: Json, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.filter((name) => json[name] !== undefined).map((name) => [name, quantity(json[name])]))

/** A block as chainstorage parsed it, back to a node's answers; fields that are zero are absent in this form. */
export const ofChainstorage = (native: Json): RecordedBlock => {
  const { header, transactions = [] } = native.ethereum as Json
  const place = (json: Json) => ({
    blockHash: json.blockHash,
    blockNumber: quantity(json.blockNumber),
    transactionHash: json.transactionHash,
    transactionIndex: quantity(json.transactionIndex)
  })
  const receipt = ({ receipt: json, type }: Json) => ({
    ...place(json),
    ...(json.root === undefined ? { status: quantity(json.status) } : { root: json.root }),
    contractAddress: json.contractAddress ?? null,
    cumulativeGasUsed: quantity(json.cumulativeGasUsed),
    gasUsed: quantity(json.gasUsed),
    logsBloom: json.logsBloom,
    type: quantity(type),
    ...quantities(json, ["depositNonce", "depositReceiptVersion"]),
    logs: ((json.logs ?? []) as Array<Json>).map((log) => ({
      ...place(log),
      address: log.address,
      topics: log.topics ?? [],
      data: log.data ?? "0x",
      logIndex: quantity(log.logIndex)
    }))
  })
  const traces = (tx: Json) =>
    ((tx.flattenedTraces ?? []) as Array<Json>).map((trace) => {
      const frame = { ...trace, value: quantity(trace.value), calls: [] }
      const address = ((trace.traceAddress ?? []) as Array<string>).map(Number)
      const block = { hash: header.hash, number: quantity(header.number), transactions: [tx] }
      return { ...flatten(block, 0, frame, address)[0]!, transactionPosition: Number(tx.index ?? 0) }
    })
  const transaction = (tx: Json) => ({
    ...{ hash: tx.hash, blockHash: tx.blockHash, from: tx.from, to: tx.to ?? null, input: tx.input ?? "0x" },
    ...{ type: quantity(tx.type), value: quantity(tx.value), gas: quantity(tx.gas), nonce: quantity(tx.nonce) },
    ...{ transactionIndex: quantity(tx.index), gasPrice: quantity(tx.gasPrice), v: tx.v, r: tx.r, s: tx.s },
    ...quantities(tx, ["maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas", "chainId", "mint"]),
    ...{ accessList: tx.transactionAccessList?.accessList ?? [], blobVersionedHashes: tx.blobVersionedHashes },
    ...{ sourceHash: tx.sourceHash, isSystemTx: tx.isSystemTx }
  })
  const counts = ["difficulty", "number", "gasLimit", "gasUsed"].map((name) => [name, quantity(header[name])])
  return {
    block: {
      extraData: "0x",
      ...header,
      ...Object.fromEntries(counts),
      ...quantities(header, ["baseFeePerGas", "blobGasUsed", "excessBlobGas"]),
      timestamp: quantity(Date.parse(header.timestamp) / 1000),
      transactions: (transactions as Array<Json>).map(transaction),
      ...(header.withdrawals === undefined
        ? {}
        : {
            withdrawals: (header.withdrawals as Array<Json>).map((withdrawal) => ({
              ...{ index: quantity(withdrawal.index), validatorIndex: quantity(withdrawal.validatorIndex) },
              ...{ address: withdrawal.address, amount: quantity(withdrawal.amount) }
            }))
          })
    },
    receipts: (transactions as Array<Json>).map(receipt),
    traceBlock: (transactions as Array<Json>).flatMap(traces)
  }
}
