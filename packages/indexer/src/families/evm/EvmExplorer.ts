/** Blocks and transactions of an EVM chain as endpoints show them, from its nodes. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../TimeSlice.ts"
import * as BatchInParts from "../node/BatchInParts.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent, NodeRejected, orNone, untilConsistent } from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"
import type { BlockName, Explorer, ExplorerTransaction, Mined, NewestBlock } from "./Explorer.ts"
import * as BlockAnswer from "./internal/BlockAnswer.ts"
import type { BlockTraces } from "./internal/BlockTraces.ts"
import * as Headers from "./internal/Headers.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"
import * as Receipts from "./internal/Receipts.ts"
import * as TransactionFee from "./internal/TransactionFee.ts"

/** A block without its transactions, and their hashes. */
interface Header extends Omit<NewestBlock, "seconds"> {
  readonly json: Hex.Json
  readonly hashes: ReadonlyArray<unknown>
}

const headerOf = (answer: unknown): Header => {
  const json = Hex.object(answer, "block")
  const hashes = Hex.array(json.transactions, "block.transactions")
  return {
    json,
    hashes,
    height: Hex.integer(json.number, "block.number"),
    hash: Hex.hash(json.hash, "block.hash"),
    parent: Hex.hash(json.parentHash, "block.parentHash"),
    time: Hex.integer(json.timestamp, "block.timestamp"),
    extraData: Hex.data(json.extraData ?? "0x", "block.extraData"),
    gasLimit: Hex.integer(json.gasLimit, "block.gasLimit"),
    gasUsed: Hex.integer(json.gasUsed, "block.gasUsed"),
    nonce: json.nonce == null ? 0n : Hex.quantity(json.nonce, "block.nonce"),
    size: Hex.integer(json.size, "block.size"),
    totalDifficulty: json.totalDifficulty == null ? 0n : Hex.quantity(json.totalDifficulty, "totalDifficulty"),
    transactions: hashes.length
  }
}

const callOf = (name: BlockName) =>
  name === "latest"
    ? Headers.blockCall("latest", false)
    : "height" in name
      ? Headers.blockCall(Hex.encodeQuantity(name.height), false)
      : { method: "eth_getBlockByHash", params: [Hex.encode(name.hash), false] }

const textOf = (name: BlockName) =>
  name === "latest" ? "latest" : "height" in name ? String(name.height) : Hex.encode(name.hash)

const inconsistent = (rpc: JsonRpc, method: string, message: string) =>
  new NodeInconsistent({ node: rpc.node, method, message })

/** A block, and fails with `BlockMissing` where the node has none. */
const headerBy = Effect.fnUntraced(function* (rpc: JsonRpc, name: BlockName): Effect.fn.Return<Header, NodeError> {
  const { method, params } = callOf(name)
  const answer = yield* Effect.catchTag(rpc.call(method, params), "NodeRejected", (error) =>
    Effect.fail(Headers.missingOr(rpc, error, textOf(name)))
  )
  if (answer === null) return yield* Headers.missing(rpc, textOf(name))
  const header = yield* read(rpc, method, () => headerOf(answer))
  const isWanted =
    name === "latest" || ("height" in name ? header.height === name.height : Hex.equal(header.hash, name.hash))
  return isWanted ? header : yield* inconsistent(rpc, method, `asked for block ${textOf(name)}, answered another`)
})

/** A node also knows blocks that have left the chain by their hash: those are none of the chain's. */
const canonicalBy = Effect.fnUntraced(function* (rpc: JsonRpc, name: BlockName): Effect.fn.Return<Header, NodeError> {
  const header = yield* headerBy(rpc, name)
  if (name === "latest" || "height" in name) return header
  return Hex.equal(yield* Headers.hashAt(rpc, header.height), header.hash)
    ? header
    : yield* Headers.missing(rpc, textOf(name))
})

/** The block that a height has, if there is one that is built on `parent`; undefined where there is none yet. */
const nextOf = Effect.fnUntraced(function* (rpc: JsonRpc, { hash, height }: Header) {
  const next = yield* orNone(headerBy(rpc, { height: height + 1 }))
  if (next === undefined || Hex.equal(next.parent, hash)) return next?.hash
  return yield* inconsistent(rpc, "eth_getBlockByNumber", `the chain changed at block ${height} while it was read`)
})

/** Between a block and its parent. */
const secondsOf = Effect.fnUntraced(function* (rpc: JsonRpc, { height, parent, time }: Header) {
  if (height === 0) return 0
  const before = yield* Effect.catchTag(headerBy(rpc, { hash: parent }), "BlockMissing", ({ message }) =>
    Effect.fail(inconsistent(rpc, "eth_getBlockByHash", message))
  )
  return time - before.time
})

const newest = (rpc: JsonRpc, count: number) =>
  Effect.gen(function* () {
    const latest = yield* headerBy(rpc, "latest")
    // One more, since a block says nothing of the time of its parent.
    const calls = Array.from({ length: Math.min(count, latest.height) }, (_, index) =>
      callOf({ height: latest.height - 1 - index })
    )
    const answers = yield* rpc.batch(calls)
    const headers = [latest, ...(yield* read(rpc, "eth_getBlockByNumber", () => answers.map(headerOf)))]
    for (const [index, header] of headers.entries()) {
      const above = headers[index - 1]
      if (above !== undefined && !Hex.equal(above.parent, header.hash)) {
        return yield* inconsistent(rpc, "eth_getBlockByNumber", "the chain changed while its newest blocks were read")
      }
    }
    return headers.slice(0, count).map((header, index): NewestBlock => {
      const before = headers[index + 1]
      return { ...header, seconds: before === undefined ? 0 : header.time - before.time }
    })
  })

/** EIP-7702: what stands where the code would, of an account that has delegated to a contract. */
const delegation = /^0xef0100.{40}$/i

const isContract = (code: unknown): boolean => typeof code === "string" && code.length > 2 && !delegation.test(code)

/** The recipients that have code after the newest block, by their keys. */
const contractsAmong = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  recipients: ReadonlyArray<AddressBytes | undefined>
): Effect.fn.Return<ReadonlySet<string>, NodeError> {
  const distinct = [
    ...new Map(recipients.flatMap((address) => (address === undefined ? [] : [[Bytes.key(address), address]])))
  ]
  const calls = distinct.map(([, address]) => ({ method: "eth_getCode", params: [Hex.encode(address), "latest"] }))
  const codes = yield* BatchInParts.batch(rpc, calls)
  return new Set(distinct.flatMap(([key], index) => (isContract(codes[index]) ? [key] : [])))
})

/** Polygon's state-sync transaction has no receipt at many nodes: it takes effect, and costs nothing. */
const stateSyncReceipt = (transaction: BlockAnswer.Transaction, block: BlockAnswer.BlockAnswer): Hex.Json => ({
  ...{ transactionHash: transaction.hashText, blockHash: block.hashText, status: "0x1", gasUsed: "0x0", logs: [] },
  transactionIndex: transaction.json.transactionIndex,
  effectiveGasPrice: "0x0"
})

/** Transactions of a block by the node's answers. Throws {@link Hex.Malformed} where one cannot be read. */
const decode = (
  { json, ...header }: Header,
  answers: ReadonlyArray<unknown>,
  receipts: ReadonlyArray<unknown>
): ReadonlyArray<Omit<ExplorerTransaction, "called">> => {
  const block = TimeSlice.atOnce(BlockAnswer.decode({ ...json, transactions: answers }, header.height))
  const stateSync = block.transactions.filter(BlockAnswer.isStateSync)
  const given = [
    ...stateSync.map((transaction) => stateSyncReceipt(transaction, block)),
    ...receipts.filter((receipt) => receipt !== null)
  ]
  const found = TimeSlice.atOnce(Receipts.byTransaction(given, block))
  const baseFee = json.baseFeePerGas == null ? 0n : Hex.quantity(json.baseFeePerGas, "block.baseFeePerGas")
  return TimeSlice.atOnce(Receipts.decode(found, block)).map(({ broken: brokenReceipt, receipt }, place) => {
    const { broken, index, unknown, ...listed } = block.listed[place]!
    // A type to come hides none of the block: what the node states of the transaction is shown.
    const transaction = listed.transaction ?? unknown
    const [rule] = [...(unknown === undefined ? broken : []), ...brokenReceipt]
    if (rule !== undefined || transaction === undefined || receipt === undefined) {
      throw new Hex.Malformed(rule ?? "a transaction and its receipt must be there")
    }
    const { contract: created, succeeded } = receipt
    const { fee, gasUsed, price } = TransactionFee.of(transaction, receipt.json, baseFee)
    return {
      ...{ hash: transaction.hash, block: header, position: index, created, from: transaction.from, fee },
      to: transaction.to ?? created,
      value: transaction.value,
      gasPrice: price,
      gasLimit: Hex.integer(transaction.json.gas, "transaction.gas"),
      gasUsed: Number(gasUsed),
      nonce: Hex.integer(transaction.json.nonce ?? "0x0", "transaction.nonce"),
      input: Hex.data(transaction.json.input, "transaction.input"),
      succeeded: succeeded ?? Receipts.probablySucceeded(transaction, receipt)
    }
  })
}

const withContracts = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  decoded: ReturnType<typeof decode>
): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError> {
  const contracts = yield* contractsAmong(
    rpc,
    decoded.map(({ created, to }) => (created === undefined ? to : undefined))
  )
  return decoded.map((transaction) => {
    const { created, to } = transaction
    const isCall = created === undefined && to !== undefined && contracts.has(Bytes.key(to))
    return { ...transaction, called: isCall ? to : undefined }
  })
})

const transactionCall = (hash: unknown) => ({ method: "eth_getTransactionByHash", params: [hash] })
const receiptCall = (hash: unknown) => ({ method: "eth_getTransactionReceipt", params: [hash] })

const transactionsOf = (rpc: JsonRpc, name: BlockName, { limit, offset }: OffsetPage) =>
  Effect.gen(function* () {
    const header = yield* canonicalBy(rpc, name)
    const hashes = header.hashes.slice(offset, offset + limit)
    const answers = yield* BatchInParts.batch(rpc, [...hashes.map(transactionCall), ...hashes.map(receiptCall)])
    const decoded = yield* read(rpc, "eth_getTransactionByHash", () =>
      decode(header, answers.slice(0, hashes.length), answers.slice(hashes.length))
    )
    return { total: header.transactions, items: yield* withContracts(rpc, decoded) }
  })

/** A transaction in a block of the chain, with the block; undefined where there is none. */
const minedBy = Effect.fnUntraced(function* (rpc: JsonRpc, hash: Uint8Array) {
  const text = Hex.encode(hash)
  const [answer, receipt] = yield* rpc.batch([transactionCall(text), receiptCall(text)])
  const block = yield* read(rpc, "eth_getTransactionByHash", () => {
    if (answer === null) return undefined
    const { blockHash, hash: found } = Hex.object(answer, "transaction")
    if (!Hex.equal(Hex.hash(found, "transaction.hash"), hash)) {
      throw new Hex.Malformed("the transaction is another one")
    }
    return blockHash == null ? undefined : Hex.hash(blockHash, "transaction.blockHash")
  })
  return block === undefined ? undefined : { answer, receipt, header: yield* canonicalBy(rpc, { hash: block }) }
})

const transaction = (rpc: JsonRpc, hash: Uint8Array) =>
  Effect.gen(function* () {
    const mined = yield* minedBy(rpc, hash)
    if (mined === undefined) return undefined
    const { answer, header, receipt } = mined
    const decoded = yield* read(rpc, "eth_getTransactionReceipt", () => decode(header, [answer], [receipt]))
    return (yield* withContracts(rpc, decoded))[0]
  })

/** Transactions of blocks that the caller knows, in their order. */
const mined = (rpc: JsonRpc, wanted: ReadonlyArray<Mined>) =>
  Effect.gen(function* () {
    const texts = wanted.map(({ hash }) => Hex.encode(hash))
    const blocks = [...new Set(wanted.map(({ block }) => Hex.encode(block)))]
    const headerCalls = blocks.map((block) => ({ method: "eth_getBlockByHash", params: [block, false] }))
    const answers = yield* BatchInParts.batch(rpc, [
      ...headerCalls,
      ...texts.map(transactionCall),
      ...texts.map(receiptCall)
    ])
    const [transactions, receipts] = [answers.slice(blocks.length), answers.slice(blocks.length + texts.length)]
    if (answers.slice(0, blocks.length).includes(null)) {
      return yield* inconsistent(rpc, "eth_getBlockByHash", "the node lacks a block that is recorded")
    }
    const decoded = yield* read(rpc, "eth_getTransactionByHash", () =>
      blocks.flatMap((block, place) => {
        const header = headerOf(answers[place])
        if (Hex.encode(header.hash) !== block) throw new Hex.Malformed("the block is another one")
        const own = wanted.flatMap((each, index) => (Hex.encode(each.block) === block ? [index] : []))
        const byIndex = (of: ReadonlyArray<unknown>) => own.map((index) => of[index])
        return decode(header, byIndex(transactions), byIndex(receipts))
      })
    )
    const found = new Map((yield* withContracts(rpc, decoded)).map((each) => [Hex.encode(each.hash), each]))
    const shown = texts.flatMap((text) => found.get(text) ?? [])
    return shown.length === texts.length
      ? shown
      : yield* inconsistent(rpc, "eth_getTransactionByHash", "the node lacks a transaction of a block")
  })

const internal = (rpc: JsonRpc, traces: BlockTraces, hash: Uint8Array) =>
  Effect.gen(function* () {
    const mined = yield* minedBy(rpc, hash)
    if (mined === undefined) return undefined
    const { answer, header } = mined
    const block = yield* read(rpc, "eth_getTransactionByHash", () =>
      TimeSlice.atOnce(BlockAnswer.decode({ ...header.json, transactions: [answer] }, header.height))
    )
    const notTraced = (message: string) =>
      new NodeRejected({ node: rpc.node, method: "debug_traceTransaction", code: 0, message })
    const [trace] = yield* Effect.mapError(traces.oneByOne(block), ({ reason }) => notTraced(reason))
    if (trace === undefined) return { time: header.time, transfers: [] }
    const { broken, transfers } = yield* Effect.mapError(Effect.fromResult(trace), notTraced)
    return broken.length === 0 ? { time: header.time, transfers } : yield* notTraced(broken.join("; "))
  })

/** `traces` of the nodes, where they give any. */
export const make = (rpc: Nodes, traces: BlockTraces | undefined): Explorer => {
  const ask = <A>(work: (one: JsonRpc) => Effect.Effect<A, NodeError>) => untilConsistent(rpc.withOne(work))
  return {
    block: Effect.fn("EvmExplorer.block")((name) =>
      orNone(
        ask(
          Effect.fnUntraced(function* (one) {
            const header = yield* canonicalBy(one, name)
            return { ...header, next: yield* nextOf(one, header), seconds: yield* secondsOf(one, header) }
          })
        )
      )
    ),
    newest: Effect.fn("EvmExplorer.newest")((count) => ask((one) => newest(one, count))),
    transactionsOf: Effect.fn("EvmExplorer.transactionsOf")((name, page) =>
      orNone(ask((one) => transactionsOf(one, name, page)))
    ),
    transaction: Effect.fn("EvmExplorer.transaction")((hash) => orNone(ask((one) => transaction(one, hash)))),
    mined: Effect.fn("EvmExplorer.mined")((wanted) => ask((one) => mined(one, wanted))),
    internal: traces && Effect.fn("EvmExplorer.internal")((hash) => orNone(ask((one) => internal(one, traces, hash))))
  }
}
