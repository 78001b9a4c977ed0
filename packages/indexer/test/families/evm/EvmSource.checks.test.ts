import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"
import { type Answer, RpcError } from "../../FakeNode.ts"
import {
  absent,
  alice,
  blockOf,
  bob,
  chainOf,
  disproved,
  inconsistent,
  padded,
  recorded,
  sourceOf,
  withoutWaiting,
  word
} from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

/** A chain that has had Byzantium from its first block on. */
const sepolia = chainOf("ethereum", "sepolia")

describe("EvmSource: checks", () => {
  describe("what does not belong together is inconsistent", () => {
    const good = recorded([
      { tx: { value: "0x1" } },
      {
        logs: [
          { topics: [], data: "0x" },
          { topics: [], data: "0x" }
        ]
      }
    ])
    const [first, second] = good.receipts as [EvmNode.Json, EvmNode.Json]
    const [tx, other] = good.block.transactions as [EvmNode.Json, EvmNode.Json]
    const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
      "another block than asked": [
        { block: { ...good.block, number: "0x65" } },
        /asked for block 100, answered block 101/
      ],
      "transactions without their content": [
        { block: { ...good.block, transactions: good.block.transactions.map((tx: EvmNode.Json) => tx.hash) } },
        /full transactions/
      ],
      "a hash of 31 bytes": [
        { block: { ...good.block, parentHash: word("b0").slice(0, -2) } },
        /parentHash must be 0x and 64 hex digits/
      ],
      "a hash that is not hex": [{ block: { ...good.block, parentHash: `0x${"zz".repeat(32)}` } }, /parentHash/],
      "a hash of wide letters": [{ block: { ...good.block, parentHash: `0x${"ａ".repeat(64)}` } }, /parentHash/],
      "a time that is no integer": [{ block: { ...good.block, timestamp: `0x${"f".repeat(16)}` } }, /timestamp/],
      "a block that is no object": [{ block: [] as never }, /block must be an object/]
    }
    for (const [name, [change, pattern]] of Object.entries(broken)) {
      it.live(name, () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([good])
          let node = answers
          const { source } = yield* sourceOf((method, params) => node(method, params), { internal: false })
          node = (method, params) =>
            method === "eth_getBlockByNumber" && change.block !== undefined
              ? change.block
              : method === "eth_getBlockReceipts" && change.receipts !== undefined
                ? change.receipts
                : answers(method, params)
          yield* inconsistent(source.blockAt(100), pattern)
        }).pipe(Effect.scoped)
      )
    }

    it.live("receipts that do not hash to the header's root are disproved, unless only links are verified", () =>
      Effect.gen(function* () {
        const receipts = good.receipts.map((receipt) => ({ ...receipt, logsBloom: `0x${"00".repeat(256)}` }))
        const forged = { ...good, block: { ...good.block, receiptsRoot: word("0b") }, receipts }
        const empty = recorded([], { receiptsRoot: word("0b") })
        const roots = { internal: false, verify: "roots" } as const
        yield* disproved(blockOf(forged, roots, sepolia), /receiptsRoot/)
        yield* disproved(blockOf(empty, roots, sepolia), /receiptsRoot/)
        assert.strictEqual((yield* blockOf(forged, { internal: false })).transfers.length, 1)
      })
    )

    /** The answers of a node, of which those about the block are `change`'s. */
    const changed = (change: Partial<EvmNode.RecordedBlock>): Answer => {
      const answers = EvmNode.answers([good])
      const receipts = change.receipts as ReadonlyArray<EvmNode.Json> | undefined
      return (method, params) => {
        if (method === "eth_getBlockByNumber" && params[0] === "0x64" && change.block !== undefined) return change.block
        if (receipts === undefined) return answers(method, params)
        if (method === "eth_getBlockReceipts") return receipts
        return method === "eth_getTransactionReceipt"
          ? (receipts.find(({ transactionHash }) => transactionHash === params[0]) ?? null)
          : answers(method, params)
      }
    }
    const withTransactions = (...transactions: ReadonlyArray<unknown>) => ({
      block: { ...good.block, transactions } as EvmNode.Json
    })
    const withLog = (log: unknown) => ({ receipts: [first, { ...second, logs: [second.logs[0], log] }] })
    const transferOf = (logIndex: unknown) => ({
      ...{ address: `0x${"11".repeat(20)}`, topics: [TokenTransfers.transferTopic, padded(alice), padded(bob)] },
      ...{ data: padded(`0x${"00".repeat(19)}05`), logIndex }
    })
    const noReceipt = /there is no receipt of the transaction/
    // Which transactions lack, by their place; the first one moves a coin.
    const tolerated: Record<string, readonly [Partial<EvmNode.RecordedBlock>, Readonly<Record<number, RegExp>>]> = {
      "a receipt too few": [{ receipts: [first] }, { 1: noReceipt }],
      "a receipt too many": [{ receipts: [first, second, second] }, {}],
      "receipts in another order": [{ receipts: [second, first] }, {}],
      "a receipt of a foreign transaction": [
        { receipts: [first, { ...second, transactionHash: word("99") }] },
        { 1: noReceipt, 2: /the receipt is of no transaction/ }
      ],
      "a receipt of another block": [{ receipts: [first, { ...second, blockHash: word("b2") }] }, { 1: noReceipt }],
      "a receipt with another's index": [
        { receipts: [first, { ...second, transactionIndex: "0x0" }] },
        { 1: /receipt.transactionIndex 0 is not that/ }
      ],
      "a status of 2": [{ receipts: [first, { ...second, status: "0x2" }] }, { 1: /status/ }],
      "log indices that fall": [{ receipts: [first, { ...second, logs: [...second.logs].reverse() }] }, {}],
      "a log of later fields": [withLog({ ...second.logs[1], later: {} }), {}],
      "a log that is none": [withLog(5), { 1: /log must be an object/ }],
      "a log with bytes of another form": [withLog({ ...transferOf("0x1"), data: {} }), { 1: /log.data/ }],
      "a token transfer whose index is another's": [withLog(transferOf("0x0")), {}],
      "transactions in another order": [withTransactions(other, tx), {}],
      "a transaction of another block": [
        withTransactions(tx, { ...other, blockHash: word("b2") }),
        { 1: /blockHash is that of another block/ }
      ],
      "a transaction of a later type": [
        withTransactions(tx, { ...other, type: "0x5" }),
        { 1: /type 0x5 is not known/ }
      ],
      "a value that is a number": [withTransactions(tx, { ...other, value: 1 }), { 1: /transaction.value/ }],
      "a transaction that is none": [withTransactions(tx, 5), { 1: /must be an object/, 2: /the receipt is of no/ }],
      "a transaction that is not listed": [withTransactions(tx), { 1: /the receipt is of no transaction/ }]
    }
    for (const [name, [change, rules]] of Object.entries(tolerated)) {
      it.live(`${name}: the rest is told`, () =>
        Effect.gen(function* () {
          let node: Answer = EvmNode.answers([good])
          const { source } = yield* sourceOf((method, params) => node(method, params), { internal: false })
          node = changed(change)
          const block = yield* source.blockAt(100)
          const coins = block.transfers.filter(({ kind }) => kind === "coin")
          assert.deepStrictEqual(
            coins.map(({ amount }) => [amount, block.transactions[0]]),
            [[1n, block.transactions[0]]]
          )
          const lacking = block.notUnderstood ?? []
          assert.strictEqual(
            lacking.length,
            Object.keys(rules).length,
            JSON.stringify(lacking.map(({ reason }) => reason))
          )
          for (const [i, rule] of Object.values(rules).entries()) assert.match(lacking[i]!.reason, rule)
          if (name.startsWith("a token transfer")) {
            // The place among all logs is the index.
            assert.deepStrictEqual(
              block.transfers.flatMap((each) => (each.kind === "token" ? [[each.position, each.amount]] : [])),
              [[1, 5n]]
            )
          }
        }).pipe(Effect.scoped)
      )
    }

    it.live("a root of zeros, or none, is a node that builds no trie: nothing is proven, and said", () =>
      Effect.gen(function* () {
        for (const root of [word("00"), null]) {
          const header = { ...good.block, receiptsRoot: root, transactionsRoot: root }
          const block = yield* blockOf({ ...good, block: header }, { internal: false, verify: "roots" }, sepolia)
          assert.strictEqual(block.transfers.length, 1)
          assert.deepStrictEqual(
            block.unproven?.map(({ cause, part }) => [part, cause]),
            ["header", "transactions", "receipts"].map((part) => [part, "unknown"])
          )
        }
      })
    )

    it.live("receipts of a block without transactions are not asked of a node that lacks them, and not believed", () =>
      Effect.gen(function* () {
        const empty = { ...recorded([]), receipts: [first] }
        assert.deepStrictEqual((yield* blockOf(empty)).transfers, [])
      })
    )

    it.live("receipts by number that are of another block, as in a reorganisation, are asked for by hash", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good])
        const { node, source } = yield* sourceOf((method, params) => {
          const answer = answers(method, params)
          return method === "eth_getBlockReceipts" && params[0] === "0x64"
            ? (answer as Array<EvmNode.Json>).map((receipt) => ({ ...receipt, blockHash: word("b2") }))
            : answer
        })
        assert.strictEqual((yield* source.blockAt(100)).transfers.length, 1)
        assert.deepStrictEqual(
          node.calls.filter(({ method }) => method === "eth_getBlockReceipts").map(({ params }) => params[0]),
          ["0x64", "0x64", word("b1")]
        )
      }).pipe(Effect.scoped)
    )

    const lists: Record<string, () => unknown> = {
      "refused, as by bor #1654": () => {
        throw new RpcError(-32000, "block not found")
      },
      null: () => null,
      "a receipt too short": () => [first],
      "of another block in part": () => [first, { ...second, blockHash: word("b2") }]
    }
    for (const [name, list] of Object.entries(lists)) {
      it.live(
        `a block's list of receipts that is ${name}: single ones are asked for, and the next block's list again`,
        () =>
          Effect.gen(function* () {
            const answers = EvmNode.answers([good])
            let fault: (() => unknown) | undefined
            const { node, source } = yield* sourceOf((method, params) =>
              method === "eth_getBlockReceipts" && fault !== undefined ? fault() : answers(method, params)
            )
            const whole = yield* source.blockAt(100)
            fault = list
            assert.deepStrictEqual(yield* source.blockAt(100), whole)
            assert.isTrue(node.calls.some(({ method }) => method === "eth_getTransactionReceipt"))
            fault = undefined
            const before = node.calls.length
            assert.deepStrictEqual(yield* source.blockAt(100), whole)
            assert.deepStrictEqual(
              node.calls.slice(before).map(({ method }) => method),
              ["eth_getBlockByNumber", "eth_getBlockReceipts", "debug_traceBlockByHash"]
            )
          }).pipe(Effect.scoped)
      )
    }

    it.live("a node that refuses the newest block's list at the start is asked for the lists of later blocks", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good])
        let refusals = 1
        const { node, source } = yield* sourceOf((method, params) => {
          if (method === "eth_getBlockReceipts" && refusals-- > 0) throw new RpcError(-32000, "receipts not available")
          return answers(method, params)
        })
        yield* source.blockAt(100)
        assert.isFalse(node.calls.some(({ method }) => method === "eth_getTransactionReceipt"))
      }).pipe(Effect.scoped)
    )

    it.live("block and receipts are one request, and traces a second for the very hash", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([good]))
        const before = node.requests()
        const calls = node.calls.length
        yield* source.blockAt(100)
        assert.strictEqual(node.requests() - before, 2)
        assert.deepStrictEqual(
          node.calls.slice(calls).map(({ method, params }) => [method, params[0]]),
          [
            ["eth_getBlockByNumber", "0x64"],
            ["eth_getBlockReceipts", "0x64"],
            ["debug_traceBlockByHash", word("b1")]
          ]
        )
      }).pipe(Effect.scoped)
    )

    it.live("a node that lost eth_getBlockReceipts, as after a fail-over, is asked for single receipts", () =>
      Effect.gen(function* () {
        let without: ReadonlyArray<string> = []
        const { source } = yield* sourceOf((method, params) => EvmNode.answers([good], { without })(method, params))
        const before = yield* source.blockAt(100)
        without = ["eth_getBlockReceipts"]
        assert.deepStrictEqual(yield* source.blockAt(100), before)
      }).pipe(Effect.scoped)
    )

    it.live("a block without a single receipt counts as one that the node does not have, with the node's reason", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good], { without: ["eth_getBlockReceipts"] })
        let refusal: string | undefined
        const { source } = yield* sourceOf((method, params) => {
          if (method !== "eth_getTransactionReceipt") return answers(method, params)
          if (refusal !== undefined) throw new RpcError(-32000, refusal)
          return null
        })
        yield* absent(source.blockAt(100), /does not have block 100 \(no receipts\)$/)
        refusal = "transaction indexing is in progress"
        yield* absent(source.blockAt(100), /block 100 \(no receipts: transaction indexing is in progress\)$/)
      }).pipe(Effect.scoped)
    )

    it.live("a node that cannot say what a token is called is passed over for the next", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good])
        const named: Answer = (method, params) =>
          method === "eth_call" ? `0x${Buffer.from("USDT").toString("hex").padEnd(64, "0")}` : answers(method, params)
        const broken: Answer = (method, params) => {
          if (method === "eth_call") throw new RpcError(-32000, "missing trie node 5a6f (path )")
          return answers(method, params)
        }
        const urls = [(yield* FakeNode.make(broken)).url, (yield* FakeNode.make(named)).url] as const
        const rpc = yield* JsonRpc.make({ urls })
        const source = yield* EvmSource.make(chainOf("ethereum"), rpc, { internal: false, verify: "links" })
        const [token] = yield* source.tokenMetadata([new Uint8Array(20).fill(7) as AddressBytes])
        assert.deepInclude(token, { name: "USDT", symbol: "USDT" })
      }).pipe(Effect.scoped)
    )

    it.live("a receipt that the node refuses takes no other with it", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good], { without: ["eth_getBlockReceipts"] })
        const { source } = yield* sourceOf((method, params) => {
          if (method === "eth_getTransactionReceipt" && params[0] === other.hash) throw new RpcError(-32000, "no index")
          return answers(method, params)
        })
        const { notUnderstood, transfers } = yield* withoutWaiting(source.blockAt(100))
        assert.deepStrictEqual(
          notUnderstood?.map(({ reason }) => reason),
          ["there is no receipt of the transaction"]
        )
        assert.deepStrictEqual(
          transfers.map(({ amount, kind }) => [kind, amount]),
          [["coin", 1n]]
        )
      }).pipe(Effect.scoped)
    )
  })
})
