/** Large blocks are read in many steps, between which others have their turn. */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Payers from "@headwater/core/events/Payers"
import * as Watched from "@headwater/core/events/Watched"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import * as Failover from "@headwater/indexer/families/node/Failover"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as BlockAnswer from "../../src/families/evm/internal/BlockAnswer.ts"
import * as BlockProof from "../../src/families/evm/internal/BlockProof.ts"
import * as CallTracer from "../../src/families/evm/internal/CallTracer.ts"
import * as Receipts from "../../src/families/evm/internal/Receipts.ts"
import * as TraceBlock from "../../src/families/evm/internal/TraceBlock.ts"
import * as Transfers from "../../src/families/evm/internal/Transfers.ts"
import * as TronBlock from "../../src/families/tron/internal/TronBlock.ts"
import * as TronProof from "../../src/families/tron/internal/TronProof.ts"
import * as BlockBody from "../../src/families/utxo/internal/BlockBody.ts"
import * as NodeBlock from "../../src/families/utxo/internal/NodeBlock.ts"
import * as NodeTransaction from "../../src/families/utxo/internal/NodeTransaction.ts"
import * as RawBlock from "../../src/families/utxo/internal/RawBlock.ts"
import * as TransactionProof from "../../src/families/utxo/internal/TransactionProof.ts"
import * as Ledger from "../../src/families/xrp/internal/Ledger.ts"
import * as LedgerProof from "../../src/families/xrp/internal/LedgerProof.ts"
import type { RpcError } from "../FakeNode.ts"
import * as Fixtures from "../Fixtures.ts"
import * as EvmBlocks from "./evm/EvmBlocks.ts"
import * as EvmNode from "./evm/EvmNode.ts"
import * as SealedBlock from "./evm/SealedBlock.ts"
import * as TronBlocks from "./tron/TronBlocks.ts"
import * as UtxoBlocks from "./utxo/UtxoBlocks.ts"
import type * as UtxoNode from "./utxo/UtxoNode.ts"
import * as XrpLedgers from "./xrp/XrpLedgers.ts"

/** The value of a computation, and its steps. */
const stepped = <A>(work: Generator<void, A>) => {
  let steps = 1
  let step = work.next()
  for (; step.done !== true; step = work.next()) steps++
  return { value: step.value, steps }
}

/** The value of a computation, which takes at least so many steps. */
const inSteps = <A>(least: number, work: Generator<void, A>): A => {
  const { steps, value } = stepped(work)
  assert.isAtLeast(steps, least)
  return value
}

const many = 400
const range = Array.from({ length: many }, (_, index) => index)

describe("large blocks are read in steps", () => {
  it("EVM: each transaction, receipt, call and log", () => {
    const { alice, bob, ether } = EvmBlocks
    const calls = range.map(() => ({ type: "CALL", from: alice, to: bob, value: ether(1) }))
    const logs = range.map(() => ({
      topics: [EvmBlocks.transferTopic, EvmBlocks.padded(alice), EvmBlocks.padded(bob)],
      data: EvmBlocks.word("01")
    }))
    const recorded = EvmBlocks.recorded([{ logs, trace: { calls } }, ...range.map(() => ({}))])
    const block = inSteps(many, BlockAnswer.decode(recorded.block, 100))
    const found = inSteps(many, Receipts.byTransaction(recorded.receipts, block))
    const receipts = inSteps(many, Receipts.decode(found, block))
    assert.deepStrictEqual(TimeSlice.atOnce(Receipts.unlisted(found, block)), [])
    const items = recorded.callTracer!.map((result, index) => ({ txHash: block.listed[index]!.hashText, result }))
    const nested = { type: "CALL", from: alice, to: bob, calls: [{ type: "CALL", from: alice, to: bob, calls }] }
    inSteps(many / 8, CallTracer.decode([{ ...items[0]!, result: nested }, ...items.slice(1)], block))
    const traces = Result.getOrThrow(inSteps(many + many / 8, CallTracer.decode(items, block)))
    const flat = Result.getOrThrow(inSteps(2 * many, TraceBlock.decode(recorded.traceBlock, block)))
    assert.deepStrictEqual(traces, flat)
    const decoded = inSteps(many + many / 16, Transfers.decode(block, receipts, traces, "given"))
    assert.lengthOf(decoded[0]!.transfers, 2 * many)
  })

  it.live("EVM: proofs", () =>
    Effect.gen(function* () {
      const recorded = EvmBlocks.recorded(range.map(() => ({})))
      const block = TimeSlice.atOnce(BlockAnswer.decode(recorded.block, 100))
      const found = TimeSlice.atOnce(Receipts.byTransaction(recorded.receipts, block))
      const receipts = TimeSlice.atOnce(Receipts.decode(found, block)).map(({ receipt }) => receipt!)
      const proof = yield* BlockProof.make(EvmBlocks.chainOf("ethereum", "devnet"), "full")
      inSteps(2 * many, proof.block(block))
      inSteps(2 * many, proof.receipts(block, receipts))
    })
  )

  it("EVM: one log of many tokens", () => {
    const word = (number: number) => number.toString(16).padStart(64, "0")
    const list = [word(1_024), ...Array.from({ length: 1_024 }, (_, index) => word(index + 1))].join("")
    const address = EvmBlocks.padded(EvmBlocks.alice)
    const log = {
      ...{ contract: Address.fromBytes(new Uint8Array(20)), transaction: 0, position: 0 },
      topics: [TokenTransfers.batchTopic, address, address, address],
      data: `0x${word(64)}${word(64 + 32 * 1_025)}${list}${list}`
    }
    assert.lengthOf(inSteps(8, TokenTransfers.ofLog(log)), 1_024)
  })

  it("UTXO: each transaction, and the inputs and outputs of a large one", () => {
    const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
    const script = UtxoBlocks.p2pkh(1)
    const prevout = UtxoBlocks.paid("1.00000000", script)
    const inputs = range.map((vout) => ({ txid: "ab".repeat(32), vout, prevout }))
    const large = UtxoBlocks.transaction(
      inputs,
      range.map(() => prevout)
    )
    const small = range.map((index) => UtxoBlocks.transaction([inputs[0]!], [prevout], index))
    const coinbase = UtxoBlocks.transaction([], [prevout])
    const { json, raw } = UtxoBlocks.block(7, "00".repeat(32), [coinbase, large, ...small])
    const body = BlockBody.empty()
    inSteps(2 * Math.floor(many / 32), NodeTransaction.read(bitcoin, large, 1, body))
    const whole = BlockBody.empty()
    for (const [index, transaction] of json.tx.entries()) {
      TimeSlice.atOnce(NodeTransaction.read(bitcoin, transaction, index, whole))
    }
    const node = NodeBlock.read(json, { hash: json.hash, height: 7 })
    // Each level of the tree.
    inSteps(Math.floor(Math.log2(many)), NodeBlock.assemble(node, whole))
    const ids = { ...node, tx: json.tx.map((transaction) => (transaction as UtxoNode.NodeTransaction).txid) }
    assert.deepStrictEqual(
      ids.tx.map((_, index) => NodeBlock.listed(ids).at(index)),
      whole.transactions
    )
    const decoded = inSteps(many, TransactionProof.of(bitcoin, json.tx, whole))
    assert.isUndefined(decoded.mismatch)
    // Some thousand bytes in each.
    const read = inSteps(raw.length / 2 / 10_000, RawBlock.read(bitcoin, Buffer.from(raw, "hex"), whole.transactions))
    assert.lengthOf(read.body.transfers, 1 + 2 * many)
    assert.isUndefined(inSteps(1, TransactionProof.ofBody(whole, read.body)).mismatch)
  })

  it("XRP: each transaction", () => {
    const [ledger] = XrpLedgers.chainOf(9_000_000, 1, () =>
      range.map((index) => ({ from: index, to: index + 1, drops: 5n }))
    )
    const answer = { ledger, validated: true }
    // Each has a leaf, too.
    assert.isUndefined(inSteps(many + 100, LedgerProof.of(XrpLedgers.mainnet, answer, "roots")).mismatch)
    const read = Result.getOrThrow(inSteps(many, Ledger.decode(answer)))!
    assert.lengthOf(inSteps(many, Ledger.toBlock(XrpLedgers.mainnet, read)).transfers, many)
  })

  it("Tron: each transaction, its logs and internal transactions", () => {
    const height = 5
    const transactions = range.map((index) => TronBlocks.call(index, 70))
    const log = range.map((index) => TronBlocks.trc20(70, index, 1, 5n))
    const internal_transactions = range.map((index) => TronBlocks.internal(index, many, 5))
    const infos = transactions.map((transaction, index) =>
      TronBlocks.infoOf(transaction, height, index > 0 ? {} : { log, internal_transactions })
    )
    const [{ block } = { block: {} }] = TronBlocks.linked([TronBlocks.blockOf(height, transactions, infos)])
    assert.isUndefined(inSteps(4 * many, TronProof.of(block, infos, "full")).mismatch)
    const answer = Schema.decodeUnknownSync(TronBlock.Answer)(block)
    const wanted = { height, internal: true }
    const read = Result.getOrThrow(inSteps(5 * many, TronBlock.decode(TronBlocks.mainnet, answer, infos, wanted)))
    assert.lengthOf(read.transfers, 2 * many)
  })

  it("transfers are packed 128 at a time", () => {
    const bytes = new Uint8Array(32)
    const address = TronBlocks.bytesOf(1)
    const block: Block = {
      ...{ height: 1, hash: bytes, parent: bytes, time: 1, transactions: [bytes], spends: [] },
      transfers: range.map((position) => ({
        ...{ kind: "coin", transaction: 0, position, from: address, to: address, amount: 1n }
      }))
    }
    const rows = inSteps(
      Math.floor(many / 128),
      TransferLog.pack(1, block, () => true)
    )
    assert.isAbove(rows.packed_transfers.length, 1)
  })
})

describe("large blocks are matched in steps", () => {
  it("their transfers, and the inputs that none of these shows", () => {
    const chain = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
    const count = 4_096
    const bytes = new Uint8Array(32)
    const [ours, other] = [1, 2].map(
      (byte) => Buffer.from(UtxoBlocks.p2pkh(byte), "hex") as Uint8Array as Address.AddressBytes
    )
    const items = Array.from({ length: count }, (_, position) => position)
    const block: Block = {
      ...{ height: 1, hash: bytes, parent: bytes, time: 1, transactions: [bytes] },
      transfers: items.map((position) => ({
        ...{ kind: "coin", transaction: 0, position, from: undefined },
        ...{ to: position === 7 ? ours : other, amount: 1n }
      })),
      spends: items.map((position) => ({
        transaction: 0,
        position,
        outpoint: { transactionId: bytes, index: position },
        unlocking: () => ({ scriptSig: new Uint8Array(), witness: [bytes, bytes] })
      }))
    }
    const watched = Watched.make([1, 2])
    watched.add(ours!)
    const key = Buffer.from(ours!).toString("hex")
    const seen = inSteps(count / 512, Matcher.addressesSeenInSteps(block, watched))
    assert.deepStrictEqual([...seen.keys()], [key])
    assert.deepStrictEqual(inSteps(count / 8, Payers.shownInSteps(block, watched)), [])
    const inputs = block.spends.map((spend) => ({ spend, coin: { script: other!, amount: 1n } }))
    const shown = inSteps((3 * count) / 512, Inputs.showInSteps(block, inputs))
    assert.deepStrictEqual(inSteps(count / 256, Inputs.unshownInSteps(shown)), [])
    const subscription = { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: ours } as const
    const candidates = {
      ...{ byAddress: new Map([[key, [subscription]]]), blockMined: [] },
      metadata: () => ({ name: "", symbol: "", decimals: undefined })
    }
    const { occurrences } = inSteps((4 * count) / 512, Matcher.matchInSteps(chain, shown, candidates))
    assert.lengthOf(occurrences, 1)
  })
})

/** A node that answers at once: whoever else has a turn while a block is read has it from the reading itself. */
const nodeOf = (block: EvmNode.RecordedBlock): JsonRpc => {
  const answer = EvmNode.answers([block])
  const results: JsonRpc["results"] = (calls) =>
    Effect.sync(() =>
      calls.map(({ method, params }) =>
        Result.try({
          try: () => answer(method, params),
          catch: (error) =>
            new NodeRejected({ node: "memory", method, code: (error as RpcError).code, message: String(error) })
        })
      )
    )
  return {
    node: "memory",
    results,
    batch: (calls) => Effect.flatMap(results(calls), (all) => Effect.fromResult(Result.all(all))),
    call: (method, params) => Effect.flatMap(results([{ method, params }]), ([result]) => Effect.fromResult(result!))
  }
}

describe.skipIf(!Fixtures.exist)("a large block of Ethereum", () => {
  const recorded = () => SealedBlock.repeated(EvmNode.bundle("ethereum-17053184").recorded, 400, 3)
  const blockAt = (block: EvmNode.RecordedBlock) =>
    Effect.flatMap(
      EvmSource.make(EvmBlocks.ethereum, Failover.alone(nodeOf(block)), { internal: true, verify: "full" }),
      (source) => source.blockAt(Number(block.block.number))
    )

  it.live("leaves others their turns, is proved, and can be given up in between", () =>
    Effect.gen(function* () {
      const block = recorded()
      let turns = 0
      yield* Effect.yieldNow.pipe(
        Effect.map(() => turns++),
        Effect.forever,
        Effect.forkScoped
      )
      const read = yield* blockAt(block)
      assert.isAbove(turns, 5)
      assert.lengthOf(read.transactions, 400)
      assert.deepStrictEqual(
        read.unproven?.map(({ part }) => part),
        ["internal transactions"]
      )
      const given = yield* Effect.forkChild(blockAt(block))
      const before = turns
      while (turns < before + 3) yield* Effect.yieldNow
      yield* Fiber.interrupt(given)
      assert.deepStrictEqual((yield* blockAt(block)).hash, read.hash)
    }).pipe(Effect.scoped)
  )

  it.live("whose last transaction or receipt is a lie is refused", () =>
    Effect.gen(function* () {
      const block = recorded()
      const change = <A extends EvmNode.Json>(all: ReadonlyArray<A>, by: EvmNode.Json) =>
        all.with(-1, { ...all.at(-1)!, ...by })
      const paid = {
        ...block,
        block: { ...block.block, transactions: change(block.block.transactions, { value: "0x5" }) }
      }
      const failed = { ...block, receipts: change(block.receipts, { cumulativeGasUsed: "0x5" }) }
      for (const lie of [paid, failed]) assert.strictEqual((yield* Effect.flip(blockAt(lie)))._tag, "ProofFailed")
    })
  )
})
