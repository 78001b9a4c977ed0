import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { alice, blockOf, bob, carol, inconsistent, movesOf, recorded, sourceOf, token, word } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

describe("EvmSource: internal transfers", () => {
  describe("internal transfers", () => {
    const call = (type: string, from: string, to: string, value: string, more: EvmNode.Json = {}) => ({
      type,
      from,
      to,
      value,
      ...more
    })
    const trace = {
      calls: [
        call("CALL", bob, carol, "0x1", {
          calls: [
            call("DELEGATECALL", carol, token, "0x1"),
            call("STATICCALL", carol, token, "0x0"),
            call("CALLCODE", carol, token, "0x7"),
            call("CALL", carol, alice, "0x2")
          ]
        }),
        call("CALL", bob, carol, "0x8", {
          error: "execution reverted",
          calls: [call("CALL", carol, alice, "0x9", { calls: [call("CREATE", alice, token, "0xa")] })]
        }),
        call("CREATE", bob, token, "0x3"),
        call("CREATE2", bob, token, "0x4", { calls: [call("SELFDESTRUCT", token, alice, "0x5")] }),
        call("CALL", bob, carol, "0x0", { calls: [call("CALL", carol, bob, "0x6")] }),
        call("DELEGATECALL", bob, token, "0xb", { error: "out of gas", calls: [call("CALL", bob, alice, "0xc")] })
      ]
    }
    const expected = [
      ["call_0 call", bob, carol, 1n],
      ["call_0_3 call", carol, alice, 2n],
      ["call_2 create", bob, token, 3n],
      ["call_3 create2", bob, token, 4n],
      ["call_3_0 selfdestruct", token, alice, 5n],
      ["call_4_0 call", carol, bob, 6n]
    ]
    const block = recorded([{ trace }, { tx: { value: "0x1" } }])

    it.live("frames that moved coins, of either tracer; nothing under an error", () =>
      Effect.gen(function* () {
        const tree = yield* blockOf(block, { internal: true })
        assert.deepStrictEqual(movesOf(tree.transfers), [...expected, ["coin", alice, bob, 1n]])
        const list = yield* blockOf(block, { internal: true, tracers: ["trace_block"] })
        assert.deepStrictEqual(list, tree)
      })
    )

    it.live("a list out of order, with block rewards, gives the same", () =>
      Effect.gen(function* () {
        const reward = {
          type: "reward",
          action: { author: alice, value: "0x1" },
          blockHash: word("b1"),
          transactionHash: null,
          traceAddress: []
        }
        const shuffled = { ...block, traceBlock: [reward, ...[...block.traceBlock!].reverse()] }
        const list = yield* blockOf(shuffled, { internal: true, tracers: ["trace_block"] })
        assert.deepStrictEqual(list, yield* blockOf(block))
      })
    )

    it.live("a failed transaction moves nothing below its top either", () =>
      Effect.gen(function* () {
        const failed = recorded([{ trace: { ...trace, error: "execution reverted" }, receipt: { status: "0x0" } }])
        assert.deepStrictEqual((yield* blockOf(failed)).transfers, [])
        const silent = recorded([{ trace, receipt: { status: "0x0" } }])
        assert.deepStrictEqual((yield* blockOf(silent)).transfers, [])
      })
    )

    it.live("not wanted: no trace is asked for", () =>
      Effect.gen(function* () {
        const { node, source } = yield* sourceOf(EvmNode.answers([block]), { internal: false })
        assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), [["coin", alice, bob, 1n]])
        assert.isFalse(node.calls.some(({ method }) => method.includes("trace")))
        const capability = (yield* source.capabilities).find(({ name }) => name === "internal transactions")
        assert.isFalse(capability!.available)
      }).pipe(Effect.scoped)
    )

    describe("what does not belong together is inconsistent", () => {
      const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
        "too few traces": [{ callTracer: block.callTracer!.slice(1) }, /1 traces for 2/],
        "too many traces": [{ callTracer: [...block.callTracer!, block.callTracer![0]!] }, /3 traces for 2/],
        "a negative amount": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol, "-0x1")] },
              { type: "CALL" }
            ]
          },
          /frame.value/
        ],
        "an amount over 256 bits": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol, `0x1${"0".repeat(64)}`)] },
              { type: "CALL" }
            ]
          },
          /frame.value/
        ],
        "an address of 19 bytes": [
          {
            callTracer: [
              { type: "CALL", from: alice, to: bob, calls: [call("CALL", bob, carol.slice(0, -2), "0x1")] },
              { type: "CALL" }
            ]
          },
          /frame.to/
        ]
      }
      for (const [name, [change, pattern]] of Object.entries(broken)) {
        it.live(name, () => inconsistent(blockOf({ ...block, ...change }), pattern))
      }

      it.live("traces of another transaction", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([block])
          const swapped = yield* sourceOf((method, params) => {
            const answer = answers(method, params)
            return method === "debug_traceBlockByHash" ? [...(answer as Array<unknown>)].reverse() : answer
          })
          yield* inconsistent(swapped.source.blockAt(100), /trace 0 is not of transaction 0/)
        }).pipe(Effect.scoped)
      )

      it.live("anvil's and geth's per-transaction error inside a good answer", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([block])
          let healthy = true
          const { source } = yield* sourceOf((method, params) =>
            method === "debug_traceBlockByHash" && !healthy
              ? block.block.transactions.map((tx: EvmNode.Json) => ({ txHash: tx.hash, error: "Resource not found" }))
              : answers(method, params)
          )
          healthy = false
          yield* inconsistent(source.blockAt(100), /transaction 0 could not be traced: Resource not found/)
        }).pipe(Effect.scoped)
      )

      const listed: Record<string, readonly [(traces: Array<EvmNode.Json>) => ReadonlyArray<EvmNode.Json>, RegExp]> = {
        "a transaction without a trace": [
          (traces) => traces.filter((t) => t.transactionPosition !== 1),
          /1 traces for 2/
        ],
        "a trace of a foreign transaction": [
          (traces) => traces.map((t) => (t.transactionPosition === 1 ? { ...t, transactionHash: word("77") } : t)),
          /no trace of transaction 1/
        ],
        "a trace of another block": [(traces) => traces.map((t) => ({ ...t, blockHash: word("b2") })), /another block/],
        "a missing top frame": [
          (traces) => traces.filter((t) => t.transactionPosition !== 0 || t.traceAddress.length > 0),
          /no top frame/
        ],
        "a broken trace address": [(traces) => traces.map((t) => ({ ...t, traceAddress: ["0"] })), /traceAddress/],
        "no list at all": [() => ({}) as never, /must be an array/]
      }
      for (const [name, [change, pattern]] of Object.entries(listed)) {
        it.live(`trace_block: ${name}`, () =>
          Effect.gen(function* () {
            const answers = EvmNode.answers([block])
            let healthy = true
            const { source } = yield* sourceOf(
              (method, params) =>
                method === "trace_block" && !healthy
                  ? change([...block.traceBlock!] as Array<EvmNode.Json>)
                  : answers(method, params),
              { internal: true, tracers: ["trace_block"] }
            )
            healthy = false
            yield* inconsistent(source.blockAt(100), pattern)
          }).pipe(Effect.scoped)
        )
      }

      it.live("a tree deeper than the EVM allows does not overflow the stack", () => {
        let frame: EvmNode.Json = call("CALL", bob, carol, "0x1")
        for (let depth = 0; depth < 1_500; depth++) frame = { ...call("CALL", bob, carol, "0x0"), calls: [frame] }
        return inconsistent(blockOf({ ...recorded([{}]), callTracer: [frame] }), /deeper/)
      })
    })
  })
})
