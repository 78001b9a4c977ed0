import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { RpcError } from "../../FakeNode.ts"
import { blockOf, chainOf, disproved, inconsistent, recorded, sourceOf, word } from "./EvmBlocks.ts"
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
    const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
      "receipts in another order": [{ receipts: [second, first] }, /receipt 0 is not of transaction 0/],
      "a receipt of a foreign transaction": [
        { receipts: [first, { ...second, transactionHash: word("99") }] },
        /receipt 1 is not of transaction 1/
      ],
      "a receipt with another's index": [{ receipts: [first, { ...second, transactionIndex: "0x0" }] }, /index/],
      "a status of 2": [{ receipts: [first, { ...second, status: "0x2" }] }, /status/],
      "log indices that fall": [
        { receipts: [first, { ...second, logs: [...second.logs].reverse() }] },
        /log indices must rise/
      ],
      "another block than asked": [
        { block: { ...good.block, number: "0x65" } },
        /asked for block 100, answered block 101/
      ],
      "transactions without their content": [
        { block: { ...good.block, transactions: good.block.transactions.map((tx: EvmNode.Json) => tx.hash) } },
        /full transactions/
      ],
      "a transaction of another block": [
        {
          block: {
            ...good.block,
            transactions: [{ ...good.block.transactions[0], blockHash: word("b2") }, good.block.transactions[1]]
          }
        },
        /transaction 0 is of another block/
      ],
      "transactions in another order": [
        { block: { ...good.block, transactions: [...good.block.transactions].reverse() } },
        /not in its place/
      ],
      "a hash of 31 bytes": [
        { block: { ...good.block, parentHash: word("b0").slice(0, -2) } },
        /parentHash must be 0x and 64 hex digits/
      ],
      "a hash that is not hex": [{ block: { ...good.block, parentHash: `0x${"zz".repeat(32)}` } }, /parentHash/],
      "a hash of wide letters": [{ block: { ...good.block, parentHash: `0x${"ａ".repeat(64)}` } }, /parentHash/],
      "a time that is no integer": [{ block: { ...good.block, timestamp: `0x${"f".repeat(16)}` } }, /timestamp/],
      "a value that is a number": [
        {
          block: {
            ...good.block,
            transactions: [{ ...good.block.transactions[0], value: 1 }, good.block.transactions[1]]
          }
        },
        /transaction.value/
      ],
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
      "a receipt too long": () => [first, second, second],
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

    it.live("a receipt that is not there yet is inconsistent", () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([good], { without: ["eth_getBlockReceipts"] })
        const { source } = yield* sourceOf((method, params) =>
          method === "eth_getTransactionReceipt" ? null : answers(method, params)
        )
        yield* inconsistent(source.blockAt(100), /receipt 0 must be an object/)
      }).pipe(Effect.scoped)
    )
  })
})
