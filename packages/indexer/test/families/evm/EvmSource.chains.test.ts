import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  alice,
  blockOf,
  bob,
  carol,
  chainOf,
  inconsistent,
  movesOf,
  padded,
  recorded,
  sourceOf,
  transferTopic,
  word,
  zero
} from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

describe("EvmSource: each chain", () => {
  describe("each chain's own", () => {
    it.live("OP stack: system and deposit transactions; a mint moves nothing, and pays for what it covers", () =>
      Effect.gen(function* () {
        const deposit = (value: string, mint: string | undefined, status = "0x1") => ({
          tx: { type: "0x7e", value, mint, gasPrice: "0x0", sourceHash: word("50"), isSystemTx: false },
          receipt: { type: "0x7e", status, depositNonce: "0x1", depositReceiptVersion: "0x1" }
        })
        const block = recorded([
          {
            ...deposit("0x0", undefined),
            tx: { ...deposit("0x0", undefined).tx, from: "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001" }
          },
          deposit("0x5", "0x5"),
          deposit("0x0", "0x6"),
          deposit("0x7", undefined),
          deposit("0x8", "0x1"),
          deposit("0x9", "0x9", "0x0")
        ])
        for (const name of ["optimism", "base"]) {
          assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf(name))).transfers), [
            ["coin", undefined, bob, 5n],
            ["coin", alice, bob, 7n],
            ["coin", alice, bob, 8n]
          ])
        }
      })
    )

    it.live("Arbitrum: types 0x64 to 0x6a and 0x78; a deposit is paid by nobody on the chain", () =>
      Effect.gen(function* () {
        const block = recorded([
          {
            tx: {
              type: "0x6a",
              from: "0x00000000000000000000000000000000000a4b05",
              to: "0x00000000000000000000000000000000000a4b05"
            }
          },
          { tx: { type: "0x64", value: "0x1" } },
          { tx: { type: "0x65", value: "0x2" } },
          { tx: { type: "0x66", value: "0x3", to: null }, receipt: { contractAddress: carol } },
          { tx: { type: "0x68", value: "0x4" } },
          { tx: { type: "0x69", value: "0x0", retryValue: "0x9", depositValue: "0x9" } },
          { tx: { type: "0x78", value: "0x5" } }
        ])
        assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf("arbitrum"))).transfers), [
          ["coin", undefined, bob, 1n],
          ["coin", alice, bob, 2n],
          ["coin", alice, carol, 3n],
          ["coin", alice, bob, 4n],
          ["coin", alice, bob, 5n]
        ])
      })
    )

    it.live("Arbitrum: the tracer's own transfer lists and frame types are not taken for calls", () =>
      Effect.gen(function* () {
        const own = { purpose: "feePayment", from: alice, to: null, value: "0x7b" }
        const trace = {
          beforeEVMTransfers: [own],
          afterEVMTransfers: [own],
          calls: [{ type: "INVALID", from: bob, to: carol, value: "0x9" }]
        }
        assert.deepStrictEqual(
          (yield* blockOf(recorded([{ trace }]), { internal: true }, chainOf("arbitrum"))).transfers,
          []
        )
      })
    )

    describe("Polygon: the state-sync transaction at a block's end", () => {
      const log = { topics: [transferTopic, padded(zero), padded(carol)], data: `0x${"2a".padStart(64, "0")}` }
      const full = recorded([{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, gas: "0x0" }, logs: [log] }])
      const polygon = chainOf("polygon")
      const expected = [
        ["coin", alice, bob, 1n],
        ["token", zero, carol, 42n]
      ]
      it.live("with its receipt and trace", () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(movesOf((yield* blockOf(full, { internal: true }, polygon)).transfers), expected)
        })
      )
      it.live("without a trace, in either form, and with its receipt only by itself", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([{ ...full, callTracer: full.callTracer!.slice(0, 1) }], { chainId: "0x89" })
          const lists = (full.traceBlock as ReadonlyArray<EvmNode.Json>).filter((t) => t.transactionPosition === 0)
          const { source } = yield* sourceOf(
            (method, params) => {
              const answer = answers(method, params)
              return method === "eth_getBlockReceipts" ? (answer as Array<unknown>).slice(0, 1) : answer
            },
            { internal: true },
            polygon
          )
          assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), expected)
          const flat = { ...full, traceBlock: lists }
          const options = { internal: true, tracers: ["trace_block"] } as const
          assert.deepStrictEqual(
            movesOf((yield* blockOf(flat, options, polygon, { chainId: "0x89" })).transfers),
            expected
          )
        }).pipe(Effect.scoped)
      )
      it.live("any other transaction must have its receipt", () =>
        inconsistent(
          blockOf({ ...recorded([{}, {}]), receipts: recorded([{}]).receipts }, { internal: false }, polygon),
          /1 receipts for 2/
        )
      )
      it.live("its own type 0x7f of later blocks", () =>
        Effect.gen(function* () {
          const typed = recorded(
            [{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, type: "0x7f" }, logs: [log] }],
            {
              receiptsRoot: word("12")
            }
          )
          assert.deepStrictEqual(movesOf((yield* blockOf(typed, { internal: true }, polygon)).transfers), expected)
        })
      )
    })

    it.live("Ethereum: withdrawals are no transfers", () =>
      Effect.gen(function* () {
        const withdrawals = [{ index: "0x1", validatorIndex: "0x2", address: bob, amount: "0x3b9aca00" }]
        assert.deepStrictEqual(
          (yield* blockOf(recorded([], { withdrawals, withdrawalsRoot: word("11") }))).transfers,
          []
        )
      })
    )

    it.live("BNB Smart Chain: system transactions without a gas price move what they say", () =>
      Effect.gen(function* () {
        const block = recorded([
          { tx: { value: "0x5", gasPrice: "0x0", to: "0x0000000000000000000000000000000000001000" } }
        ])
        const { transfers } = yield* blockOf(block, { internal: true }, chainOf("binance-smart-chain"))
        assert.deepStrictEqual(movesOf(transfers), [["coin", alice, "0x0000000000000000000000000000000000001000", 5n]])
      })
    )

    it.live("Avalanche and Ethereum Classic: receipts without a type are legacy", () =>
      Effect.gen(function* () {
        const block = recorded([{ tx: { value: "0x5", type: undefined } }])
        for (const name of ["avalanche", "ethereum-classic"]) {
          assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf(name))).transfers), [
            ["coin", alice, bob, 5n]
          ])
        }
      })
    )
  })
})
