import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as SharedRequests from "@headwater/indexer/families/node/SharedRequests"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import {
  alice,
  blockOf,
  bob,
  carol,
  ethereum,
  lacking,
  movesOf,
  padded,
  recorded,
  sourceOf,
  token,
  transferTopic,
  withoutWaiting,
  word
} from "./EvmBlocks.ts"
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
        call("CREATE2", bob, token, "0x4", {
          calls: [call("SELFDESTRUCT", token, alice, "0x5"), call("SELFDESTRUCT", token, token, "0xd")]
        }),
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

    describe("what does not belong together, or is not understood, stops nothing and is named", () => {
      const broken: Record<string, readonly [Partial<EvmNode.RecordedBlock>, RegExp]> = {
        "too few traces": [{ callTracer: block.callTracer!.slice(1) }, /no trace of the transaction/],
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
        it.live(name, () => lacking(blockOf({ ...block, ...change }), pattern))
      }

      it.live("traces in another order are found by their transactions", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([block])
          const swapped = yield* sourceOf((method, params) => {
            const answer = answers(method, params)
            return method === "debug_traceBlockByHash" ? [...(answer as Array<unknown>)].reverse() : answer
          })
          assert.deepStrictEqual(yield* swapped.source.blockAt(100), yield* blockOf(block))
        }).pipe(Effect.scoped)
      )

      const listed: Record<string, readonly [(traces: Array<EvmNode.Json>) => ReadonlyArray<EvmNode.Json>, RegExp]> = {
        "a transaction without a trace": [
          (traces) => traces.filter((t) => t.transactionPosition !== 1),
          /no trace of the transaction/
        ],
        "a trace of a foreign transaction": [
          (traces) => traces.map((t) => (t.transactionPosition === 1 ? { ...t, transactionHash: word("77") } : t)),
          /names no transaction of the block.*no trace of the transaction/
        ],
        "a trace of another block": [(traces) => traces.map((t) => ({ ...t, blockHash: word("b2") })), /of the block/],
        "a missing top frame": [
          (traces) => traces.filter((t) => t.transactionPosition !== 0 || t.traceAddress.length > 0),
          /no top frame/
        ],
        "a broken trace address": [(traces) => traces.map((t) => ({ ...t, traceAddress: ["0"] })), /traceAddress/],
        "no list at all": [() => ({}) as never, /no trace is of/]
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
            yield* lacking(source.blockAt(100), pattern)
          }).pipe(Effect.scoped)
        )
      }

      it.live("a tree deeper than the EVM allows does not overflow the stack", () => {
        let frame: EvmNode.Json = call("CALL", bob, carol, "0x1")
        for (let depth = 0; depth < 1_500; depth++) frame = { ...call("CALL", bob, carol, "0x0"), calls: [frame] }
        return lacking(blockOf({ ...recorded([{}]), callTracer: [frame] }), /deeper/)
      })
    })
  })

  describe("a block that the node cannot trace", () => {
    const log = { topics: [transferTopic, padded(alice), padded(carol)], data: word("00").replace(/..$/, "07") }
    const block = recorded([
      { tx: { value: "0x1" }, trace: { calls: [{ type: "CALL", from: bob, to: carol, value: "0x2" }] } },
      { logs: [log] },
      { tx: { value: "0x3" }, receipt: { status: "0x0" }, trace: { error: "out of gas" } }
    ])
    const coin = ["coin", alice, bob, 1n]
    const tokens = ["token", alice, carol, 7n]
    const whole = [coin, ["call_0 call", bob, carol, 2n], tokens]
    const unavailable = "required historical state unavailable (reexec=128)"
    const rejected = (message: string, code = -32000): FakeNode.Answer => {
      return () => {
        throw new FakeNode.RpcError(code, message)
      }
    }

    /** When the block was mined, in seconds since the Unix epoch: as long as it is young, a refusal may pass. */
    const mined = 0x65f0c1a0

    /** A source whose node answers calls of its tracer by `fault`, while there is one. */
    const faulty = Effect.fnUntraced(function* (
      tracer: "debug_traceBlockByHash" | "trace_block" = "debug_traceBlockByHash",
      of: EvmNode.RecordedBlock = block
    ) {
      const answers = EvmNode.answers([of])
      const state: { fault: FakeNode.Answer | undefined } = { fault: undefined }
      const { node, source } = yield* sourceOf(
        (method, params) => (method === tracer && state.fault ? state.fault : answers)(method, params),
        { internal: true, tracers: tracer === "trace_block" ? [tracer] : [tracer, "trace_block"] }
      )
      const before = node.calls.length
      const traced = () => node.calls.slice(before).filter(({ method }) => method.includes("trace"))
      return { state, source, traced }
    })

    const refusals: Record<string, readonly [FakeNode.Answer, string]> = {
      "a rejection": [rejected(unavailable), unavailable],
      "one transaction whose trace took too long": [
        (method, params) => {
          const traces = EvmNode.answers([block])(method, params) as ReadonlyArray<EvmNode.Json>
          return traces.map((trace, index) =>
            index === 1 ? { txHash: trace.txHash, error: "execution timeout" } : trace
          )
        },
        "transaction 1 could not be traced: execution timeout"
      ],
      "anvil without the state": [
        () => block.block.transactions.map(({ hash }: EvmNode.Json) => ({ txHash: hash, error: "Resource not found" })),
        "transaction 0 could not be traced: Resource not found"
      ],
      "neither result nor error": [
        () => block.block.transactions.map(({ hash }: EvmNode.Json) => ({ txHash: hash, result: null })),
        "transaction 0 could not be traced: no result and no reason"
      ],
      "a rejection without words": [rejected(""), "refused"]
    }
    for (const [name, [fault, reason]] of Object.entries(refusals)) {
      it.live(`${name}: coins and tokens, and what is missing and why`, () =>
        Effect.gen(function* () {
          const { source, state, traced } = yield* faulty()
          state.fault = fault
          const found = yield* withoutWaiting(source.blockAt(100), mined)
          assert.deepStrictEqual(movesOf(found.transfers), [coin, tokens])
          assert.deepStrictEqual(found.missing, [{ part: "internal", reason: `debug_traceBlockByHash: ${reason}` }])
          assert.lengthOf(traced(), 6, "asked again, and never another tracer, which counts calls otherwise")
          assert.isTrue(traced().every(({ method }) => method === "debug_traceBlockByHash"))
          // The tracer is not given up: the next block that it can trace is whole.
          state.fault = undefined
          const next = yield* source.blockAt(100)
          assert.deepStrictEqual(movesOf(next.transfers), whole)
          assert.notProperty(next, "missing")
        }).pipe(Effect.scoped)
      )
    }

    it.live("trace_block, asked with the block and then by itself", () =>
      Effect.gen(function* () {
        const { source, state, traced } = yield* faulty("trace_block")
        state.fault = rejected("missing trie node")
        const found = yield* withoutWaiting(source.blockAt(100), mined)
        assert.deepStrictEqual(found.missing, [{ part: "internal", reason: "trace_block: missing trie node" }])
        assert.lengthOf(traced(), 6)
        let refused = 0
        state.fault = (method, params) =>
          refused++ < 2 ? rejected("missing trie node")(method, params) : EvmNode.answers([block])(method, params)
        assert.deepStrictEqual(movesOf((yield* withoutWaiting(source.blockAt(100), mined)).transfers), whole)
      }).pipe(Effect.scoped)
    )

    it.live("a refusal that passes makes no hole", () =>
      Effect.gen(function* () {
        const { source, state, traced } = yield* faulty()
        let refused = 0
        state.fault = (method, params) =>
          refused++ < 3 ? rejected(unavailable)(method, params) : EvmNode.answers([block])(method, params)
        const found = yield* withoutWaiting(source.blockAt(100), mined)
        assert.deepStrictEqual(movesOf(found.transfers), whole)
        assert.notProperty(found, "missing")
        assert.lengthOf(traced(), 4)
      }).pipe(Effect.scoped)
    )

    it.live("thousands in a row are not each waited for; after one that was traced they are again", () =>
      Effect.gen(function* () {
        const { source, state, traced } = yield* faulty()
        state.fault = rejected(unavailable)
        for (let i = 0; i < 20; i++) {
          assert.isDefined((yield* withoutWaiting(source.blockAt(100), mined)).missing)
        }
        assert.lengthOf(traced(), 8 * 6 + 12)
        state.fault = undefined
        yield* source.blockAt(100)
        state.fault = rejected(unavailable)
        yield* withoutWaiting(source.blockAt(100), mined)
        assert.lengthOf(traced(), 8 * 6 + 12 + 1 + 6)
      }).pipe(Effect.scoped)
    )

    it.live("a node that stays behind holds up young blocks for a while, and not each of them", () =>
      Effect.gen(function* () {
        const { source, state } = yield* faulty()
        state.fault = rejected("header not found")
        const at = (seconds: number) => withoutWaiting(Effect.result(source.blockAt(100)), mined + seconds)
        for (const seconds of [1, 15]) {
          const lags = yield* at(seconds)
          assert.strictEqual(Result.isFailure(lags) && lags.failure._tag, "BlockMissing", String(seconds))
        }
        for (const seconds of [17, 18]) {
          const { missing } = yield* Effect.fromResult(yield* at(seconds))
          assert.deepStrictEqual(missing, [{ part: "internal", reason: "debug_traceBlockByHash: header not found" }])
        }
        state.fault = undefined
        assert.isUndefined((yield* Effect.fromResult(yield* at(19))).missing)
        state.fault = rejected("header not found")
        assert.isTrue(Result.isFailure(yield* at(20)), "it may be behind once more")
        // Where a clock that was ahead is put right, blocks wait for no longer.
        assert.isDefined((yield* Effect.fromResult(yield* at(1))).missing)
      }).pipe(Effect.scoped)
    )

    it.live("an old block's refusal is not waited for", () =>
      Effect.gen(function* () {
        const { source, state, traced } = yield* faulty()
        state.fault = rejected(unavailable)
        assert.isDefined((yield* withoutWaiting(source.blockAt(100), mined + 61)).missing)
        assert.lengthOf(traced(), 1)
      }).pipe(Effect.scoped)
    )

    /** Answers calls as a node with the block, but for traces, of which `trace` makes what it wants. */
    const nodeWith = (trace: (response: ServerResponse, answer: () => void) => void) =>
      FakeNode.http((request, response) => {
        void FakeNode.bodyOf(request).then((body) => {
          const calls = [JSON.parse(body)].flat() as ReadonlyArray<FakeNode.Call>
          const answers = calls.map((call) => FakeNode.answerTo(call, EvmNode.answers([block])))
          const answer = () => response.end(JSON.stringify(body.startsWith("[") ? answers : answers[0]))
          if (body.includes("debug_trace")) trace(response, answer)
          else answer()
        })
      })

    const noAnswers: Record<string, readonly [fault: (response: ServerResponse) => void, reason: RegExp]> = {
      "hangs up": [(response) => response.destroy(), /other side closed|ECONNRESET|socket/],
      "takes too long": [() => {}, /no answer within 200 ms/],
      "answers HTTP 503": [(response) => response.writeHead(503).end(), /HTTP 503/],
      "answers half of it": [(response) => response.end('{"jsonrpc":"2.0","id":1,"result":[{'), /truncated/],
      "is out of credits": [
        (response) => response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}'),
        /limit exceeded/
      ]
    }
    for (const [name, [fault, reason]] of Object.entries(noAnswers)) {
      it.live(
        `a node that ${name} when it is asked for traces: the block goes on, and the node rests for a while`,
        () =>
          Effect.gen(function* () {
            let [faulty, asked] = [false, 0]
            const { url } = yield* nodeWith((response, answer) => {
              asked++
              if (faulty) fault(response)
              else answer()
            })
            const rpc = yield* JsonRpc.make({ urls: [url] })
            const tracing = yield* JsonRpc.make({ urls: [url], attempts: 1, timeoutMillis: 200 })
            const source = yield* EvmSource.make(ethereum, rpc, {
              internal: true,
              tracing: { nodes: [tracing], timeoutMillis: 200 }
            })
            faulty = true
            const found = yield* source.blockAt(100)
            assert.deepStrictEqual(movesOf(found.transfers), [coin, tokens])
            assert.match(found.missing?.[0]?.reason ?? "", reason)
            const before = asked
            const rests = yield* source.blockAt(100)
            assert.match(rests.missing?.[0]?.reason ?? "", reason)
            assert.strictEqual(asked, before)
            // The rest is for blocks that are about to be committed: for one that lacks its part, the node is asked.
            faulty = false
            assert.deepStrictEqual(movesOf((yield* source.wholeBlockAt!(100)).transfers), whole)
            assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), whole)
          }).pipe(Effect.scoped)
      )
    }

    it.live("while blocks wait for no more than a moment for traces, no more of them are asked for at a time", () =>
      Effect.gen(function* () {
        let faulty = false
        const { url } = yield* nodeWith((response, answer) => (faulty ? response.destroy() : answer()))
        const rpc = yield* JsonRpc.make({ urls: [url] })
        const tracing = yield* JsonRpc.make({ urls: [url], attempts: 1 })
        const source = yield* EvmSource.make(ethereum, rpc, {
          internal: true,
          tracing: { nodes: [tracing], timeoutMillis: 5_000 }
        })
        for (let block = 0; block < 20; block++) yield* source.blockAt(100)
        assert.isAtLeast(source.blocksOfRequest!(), 2)
        faulty = true
        yield* source.blockAt(100)
        assert.strictEqual(source.blocksOfRequest!(), 1)
        faulty = false
        yield* source.wholeBlockAt!(100)
        assert.isAtLeast(source.blocksOfRequest!(), 2)
      }).pipe(Effect.provideService(SharedRequests.MostBlocks, 40), Effect.scoped)
    )

    it.live("another node's traces are taken, in the order of the nodes", () =>
      Effect.gen(function* () {
        const faults: [FakeNode.Answer | undefined, FakeNode.Answer | undefined] = [undefined, undefined]
        const nodes = yield* Effect.forEach([0, 1] as const, (i) =>
          FakeNode.make((method, params) =>
            (method === "debug_traceBlockByHash" ? (faults[i] ?? EvmNode.answers([block])) : EvmNode.answers([block]))(
              method,
              params
            )
          )
        )
        const rpc = yield* JsonRpc.make({ urls: Arr.map(nodes, ({ url }) => url) })
        const tracing = yield* Effect.forEach(nodes, ({ url }) => JsonRpc.make({ urls: [url], attempts: 1 }))
        const options = {
          ...{ internal: true, tracers: ["debug_traceBlockByHash"] as const },
          tracing: { nodes: tracing, timeoutMillis: 5_000 }
        }
        const asked = () => nodes.map(({ calls }) => calls.filter(({ method }) => method.includes("trace")).length)
        const missing = rejected("the method debug_traceBlockByHash does not exist/is not available", -32601)
        faults[0] = missing
        const source = yield* EvmSource.make(ethereum, rpc, options)
        assert.deepStrictEqual(asked(), [1, 1], "the second node has what the first one lacks")
        for (const times of [2, 3]) {
          assert.deepStrictEqual(movesOf((yield* withoutWaiting(source.blockAt(100), mined + 61)).transfers), whole)
          assert.deepStrictEqual(asked(), [2, times], "a node without the method is asked once, and rests")
        }
        faults[1] = rejected(unavailable)
        const [first, second] = nodes.map(({ url }) => new URL(url).host)
        const found = yield* source.wholeBlockAt!(100)
        assert.deepStrictEqual(found.missing, [
          {
            part: "internal",
            reason:
              `debug_traceBlockByHash: ${first}: the method debug_traceBlockByHash does not exist/is not available; ` +
              `${second}: ${unavailable}`
          }
        ])
        faults[0] = undefined
        assert.deepStrictEqual(movesOf((yield* source.wholeBlockAt!(100)).transfers), whole)
        assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), whole)
      }).pipe(Effect.scoped)
    )

    it.live("the node gets a limit below ours, unless it refuses one", () =>
      Effect.gen(function* () {
        let refuses = false
        const answers = EvmNode.answers([block])
        const { node, source } = yield* sourceOf((method, params) => {
          const { timeout } = (params[1] ?? {}) as { readonly timeout?: string }
          if (method === "debug_traceBlockByHash" && refuses && timeout !== undefined) {
            throw new FakeNode.RpcError(-32602, "timeout must not exceed 10s")
          }
          return answers(method, params)
        })
        const limits = () =>
          node.calls.flatMap(({ method, params }) => (method === "debug_traceBlockByHash" ? [params[1]] : []))
        const [limited, unlimited] = [{ tracer: "callTracer", timeout: "54000ms" }, { tracer: "callTracer" }]
        assert.deepStrictEqual(limits(), [limited])
        refuses = true
        for (let i = 0; i < 2; i++) assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), whole)
        assert.deepStrictEqual(limits(), [limited, limited, unlimited, unlimited])
      }).pipe(Effect.scoped)
    )

    it.live("a block of this minute that the tracing node does not have yet is waited for", () =>
      Effect.gen(function* () {
        const { source, state } = yield* faulty()
        for (const fault of [rejected(`block ${word("b1")} not found`), () => null]) {
          state.fault = fault
          const error = yield* Effect.flip(withoutWaiting(source.blockAt(100), mined + 59))
          assert.deepInclude(error, { _tag: "BlockMissing", block: "100" })
          assert.isDefined((yield* withoutWaiting(source.blockAt(100), mined + 61)).missing)
        }
      }).pipe(Effect.scoped)
    )

    it.live("a young block does not wait for a node without the method, whatever its words", () =>
      Effect.gen(function* () {
        const { source, state } = yield* faulty()
        for (const code of [-32601, -32000]) {
          state.fault = rejected("Method debug_traceBlockByHash not found", code)
          assert.isDefined((yield* withoutWaiting(source.blockAt(100), mined)).missing)
        }
      }).pipe(Effect.scoped)
    )

    it.live("the reason is short and printable", () =>
      Effect.gen(function* () {
        const { source, state } = yield* faulty()
        state.fault = rejected(`a\u0000b\n\u001b[31m${"c".repeat(400)}`)
        const [{ reason } = { reason: "" }] = (yield* withoutWaiting(source.blockAt(100), mined)).missing ?? []
        assert.lengthOf(reason, 200)
        assert.match(reason, /^debug_traceBlockByHash: a b \[31mc+$/)
      }).pipe(Effect.scoped)
    )

    it.live("before Byzantium, what used up its gas without a log failed: no trace says otherwise", () =>
      Effect.gen(function* () {
        const old = { root: word("5a"), status: undefined }
        const { source, state } = yield* faulty(
          "debug_traceBlockByHash",
          recorded([
            { tx: { value: "0x1" }, receipt: old },
            { tx: { value: "0x2", gas: "0x15f90", input: "0x12" }, receipt: { ...old, gasUsed: "0x15f90" } }
          ])
        )
        state.fault = rejected(unavailable)
        assert.deepStrictEqual(movesOf((yield* withoutWaiting(source.blockAt(100), mined)).transfers), [coin])
      }).pipe(Effect.scoped)
    )

    it.live.skipIf(!Fixtures.exist)("a real block is the same without its internal transfers", () =>
      Effect.gen(function* () {
        const { recorded } = EvmNode.bundle("ethereum-17053184")
        const { source, state } = yield* faulty("debug_traceBlockByHash", recorded)
        const { transfers, ...rest } = yield* source.blockAt(17_053_184)
        state.fault = rejected(unavailable)
        const without = yield* withoutWaiting(source.blockAt(17_053_184))
        const kept = transfers.filter(({ kind }) => kind !== "internal")
        assert.isBelow(kept.length, transfers.length)
        assert.deepStrictEqual(without, {
          ...{ ...rest, transfers: kept },
          missing: [{ part: "internal", reason: `debug_traceBlockByHash: ${unavailable}` }]
        })
      }).pipe(Effect.scoped)
    )
  })
})
