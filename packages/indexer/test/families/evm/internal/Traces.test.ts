import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { InternalTransfer } from "@headwater/core/Block"
import type { BlockAnswer } from "@headwater/indexer/families/evm/internal/BlockAnswer"
import type { NotTraced, Trace, Traces } from "@headwater/indexer/families/evm/internal/Trace"
import * as CallTracer from "@headwater/indexer/families/evm/internal/CallTracer"
import * as TraceBlock from "@headwater/indexer/families/evm/internal/TraceBlock"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as Fixtures from "../../../Fixtures.ts"
import type { Json } from "../EvmNode.ts"

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`

/** As much of a block as the tracers look at. */
const blockOf = (hashes: ReadonlyArray<string>, hashText: string): BlockAnswer =>
  ({ hashText, transactions: [], listed: hashes.map((hash) => ({ hashText: hash })) }) as never

const line = ({ transaction, operation, operationType, from, to, amount }: InternalTransfer) =>
  [transaction, operation, operationType, hex(from), hex(to), amount].join(" ")

/** Every trace, of which everything is understood. */
const whole = (traces: Generator<void, Result.Result<Traces, NotTraced>>): ReadonlyArray<Trace> =>
  Result.getOrThrow(TimeSlice.atOnce(traces)).map((trace) => {
    const read = Result.getOrThrow(trace!)
    assert.deepStrictEqual(read.broken, [])
    return read
  })

const decoded = (traces: ReadonlyArray<Json>, hashes: ReadonlyArray<string>) =>
  whole(CallTracer.decode(traces, blockOf(hashes, "")))

const tree = (traces: ReadonlyArray<Json>) =>
  decoded(
    traces,
    traces.map(({ txHash }) => txHash)
  )

const flat = (traces: ReadonlyArray<Json>) => {
  const hashes = [...new Set(traces.flatMap(({ transactionHash }) => transactionHash ?? []))]
  return TraceBlock.decode(traces, blockOf(hashes, traces[0]?.blockHash ?? ""))
}
const list = (traces: ReadonlyArray<Json>) => whole(flat(traces))

const lines = (traces: ReadonlyArray<{ readonly transfers: ReadonlyArray<InternalTransfer> }>) =>
  traces.flatMap(({ transfers }) => transfers.map(line))

describe.skipIf(!Fixtures.exist)("recorded traces", () => {
  describe("Besu: every kind of call, the same from both of its tracers", () => {
    const folder = "evm-traces/besu/ethereum/api/src/test/resources/org/hyperledger/besu/ethereum/api/jsonrpc/"
    const trees = new Map<number, ReadonlyArray<Json>>()
    const lists = new Map<number, ReadonlyArray<Json>>()
    const collect = (path: string, into: Map<number, ReadonlyArray<Json>>) => {
      for (const file of readdirSync(Fixtures.path(`${folder}${path}`))) {
        const { request, response } = Fixtures.json(`${folder}${path}${file}`) as Json
        if (Array.isArray(response.result)) into.set(Number(request.params[0]), response.result)
      }
    }
    if (Fixtures.exist) {
      collect("debug-geth/specs/call-tracer/", trees)
      collect("trace/specs/trace-block/", lists)
    }
    for (const [number, frames] of [...lists].sort(([a], [b]) => a - b)) {
      it(`block ${number}`, () => {
        const traces = trees.get(number) ?? [] // geth cannot trace its genesis block
        assert.deepStrictEqual(lines(tree(traces)), lines(list(frames)))
        assert.deepStrictEqual(
          tree(traces).map(({ failed }) => failed),
          list(frames).map(({ failed }) => failed)
        )
      })
    }
    it("creations that failed move nothing", () => {
      assert.deepStrictEqual(lines(tree(trees.get(34)!)), [])
    })
    it("what a contract leaves when it destroys itself is found", () => {
      const all = [...trees.values()].flatMap((traces) => lines(tree(traces)))
      assert.isTrue(all.some((text) => text.includes(" selfdestruct ")))
    })
  })

  describe("alloy: callTracer as of several versions of geth", () => {
    const folder = "evm-traces/alloy/crates/rpc-types-trace/test_data/call_tracer"
    for (const file of ["default", "legacy", "with_log", "only_top_call"]) {
      it(file, () => {
        const frame = Fixtures.json(`${folder}/${file}.json`) as Json
        const [trace] = decoded([{ result: frame }], ["0x1"])
        const calls = (frame.calls ?? []) as ReadonlyArray<Json>
        assert.deepStrictEqual(
          trace!.transfers.map(line),
          calls.flatMap(({ type, from, to, value }, index) =>
            type === "CALL" && BigInt(value) > 0n ? [`0 call_${index} call ${from} ${to} ${BigInt(value)}`] : []
          )
        )
      })
    }
  })

  describe("ethereum-etl: Parity's blocks", () => {
    const folder = "evm-rpc/ethereum-etl/tests/resources"
    const files = [
      "test_export_traces_job/block_with_create/web3_response.trace_block_0xf44f2.json",
      "test_export_traces_job/block_with_subtraces/web3_response.trace_block_0xf4240.json",
      "test_stream/blocks_2112234_2112234/web3_response.trace_block_0x203aea.json",
      "test_stream/blocks_508110_508110/web3_response.trace_block_0x7c0ce.json"
    ]
    for (const file of files) {
      it(file, () => {
        const traces = (Fixtures.json(`${folder}/${file}`) as Json).result as ReadonlyArray<Json>
        const expected = traces.flatMap(({ action, error, traceAddress, transactionPosition, type }) =>
          type === "call" &&
          action.callType === "call" &&
          traceAddress.length > 0 &&
          BigInt(action.value) > 0n &&
          !error
            ? [
                `${transactionPosition} call_${traceAddress.join("_")} call ${action.from} ${action.to} ${BigInt(action.value)}`
              ]
            : []
        )
        assert.deepStrictEqual(
          lines(list(traces)).filter((text) => text.includes(" call ")),
          expected
        )
      })
    }
  })

  describe("Arbitrum: classic and Nitro", () => {
    const folder = "evm-rpc/chainstorage/internal/utils/fixtures/parser/arbitrum"
    it("Nitro's own transfer lists and INVALID frames are not taken for calls", () => {
      const traces = Fixtures.json(`${folder}/arb_debugtrace.json`) as ReadonlyArray<Json>
      assert.deepStrictEqual(lines(decoded(traces, ["0x1", "0x2"].slice(0, traces.length))), [])
    })
    it("arbtrace_block: a frame of another block is not taken, and named", () => {
      const traces = Fixtures.json(`${folder}/arb_paritytrace_errorflattenedtrace.json`) as ReadonlyArray<Json>
      const broken = Result.getOrThrow(TimeSlice.atOnce(flat(traces))).flatMap((trace) =>
        Result.match(trace!, { onFailure: (rule) => [rule], onSuccess: ({ broken }) => broken })
      )
      assert.include(broken.join(), "a frame is of another block")
    })
    for (const file of ["basic", "traceoutoforder", "twotxns"]) {
      it(`arbtrace_block: ${file}`, () => {
        const traces = Fixtures.json(`${folder}/arb_paritytrace_${file}.json`) as ReadonlyArray<Json>
        const path = ({ transactionHash, traceAddress }: Json): ReadonlyArray<unknown> => [
          transactionHash,
          ...traceAddress
        ]
        const failed = traces.filter(({ error }) => error).map(path)
        const expected = traces.filter(
          (trace) =>
            trace.action.callType === "call" &&
            trace.traceAddress.length > 0 &&
            BigInt(trace.action.value) > 0n &&
            !failed.some((above) => above.every((step, depth) => path(trace)[depth] === step))
        )
        assert.strictEqual(lines(list(traces)).length, expected.length)
        // Every frame with a value of its own, so that the order of the list shows.
        const valued = traces.map((trace, index) => ({
          ...trace,
          action: { ...trace.action, value: `0x${(index + 1).toString(16)}` }
        }))
        assert.deepStrictEqual(lines(list(valued)), lines(list([...valued].reverse())))
      })
    }
  })
})
