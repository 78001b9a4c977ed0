import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Capabilities from "@headwater/indexer/families/evm/internal/Capabilities"
import * as TracingNode from "@headwater/indexer/families/evm/internal/TracingNode"
import type { Tracer } from "@headwater/indexer/families/evm/internal/Trace"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../../FakeNode.ts"

const chain = Chain.ofName("ethereum/devnet")!

const block = { number: "0x1", hash: `0x${"b1".repeat(32)}`, transactions: [`0x${"a1".repeat(32)}`] }

/** Answers of nodes that have lost the state which a call tracer runs on. */
const stateless: Record<string, () => unknown> = {
  anvil: () => [{ txHash: block.transactions[0], error: "Resource not found" }],
  geth: () => {
    throw new FakeNode.RpcError(-32000, "required historical state unavailable (reexec=128)")
  },
  "op-geth": () => {
    throw new FakeNode.RpcError(-32000, "historical state not available in path scheme yet")
  },
  bsc: () => {
    throw new FakeNode.RpcError(-32000, "missing trie node 5ab3 (path )")
  }
}

/** Answers of nodes about a block that is no longer, or not yet, on their chain. */
const gone: Record<string, () => unknown> = {
  geth: () => {
    throw new FakeNode.RpcError(-32000, `block ${block.hash} not found`)
  },
  erigon: () => null
}

const answers =
  (trace: () => unknown, hasTraceBlock: boolean): FakeNode.Answer =>
  (method) => {
    if (method === "eth_chainId") return "0x1"
    if (method === "eth_getBlockByNumber") return block
    if (method === "eth_getBlockReceipts") return []
    if (method === "debug_traceBlockByHash") return trace()
    if (method === "trace_block" && hasTraceBlock) return [{ traceAddress: [], type: "call" }]
    throw new FakeNode.RpcError(-32601, `the method ${method} does not exist/is not available`)
  }

const tracerOf = Effect.fnUntraced(function* (trace: () => unknown, hasTraceBlock: boolean) {
  const { url } = yield* FakeNode.make(answers(trace, hasTraceBlock))
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const tracers: ReadonlyArray<Tracer> = ["debug_traceBlockByHash", "trace_block"]
  return (yield* Capabilities.detect(chain, rpc, [TracingNode.make(rpc, 60_000)], { tracers })).tracer
})

describe("Capabilities", () => {
  for (const [name, trace] of Object.entries(stateless)) {
    it.live(`takes another tracer where ${name} has nothing but errors to give`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* tracerOf(trace, true), "trace_block")
        // The only one there is, is kept: the state of later blocks may be there.
        assert.strictEqual(yield* tracerOf(trace, false), "debug_traceBlockByHash")
      }).pipe(Effect.scoped)
    )
  }

  it.live("asks another node for the block by which tracers are tried, where one has no newest block", () =>
    Effect.gen(function* () {
      const trace = () => [{ txHash: block.transactions[0], result: { type: "CALL" } }]
      const well: FakeNode.Answer = (method, params) => {
        if (method === "debug_traceBlockByHash" && params[0] !== block.hash)
          throw new FakeNode.RpcError(-32602, "missing value for required argument 0")
        return answers(trace, false)(method, params)
      }
      const without: FakeNode.Answer = (method, params) =>
        method === "eth_getBlockByNumber" ? null : well(method, params)
      const urls = [(yield* FakeNode.make(without)).url, (yield* FakeNode.make(well)).url] as const
      const rpc = yield* JsonRpc.make({ urls })
      const tracing = rpc.each.map((node) => TracingNode.make(node, 60_000))
      const found = yield* Capabilities.detect(chain, rpc, tracing, { tracers: ["debug_traceBlockByHash"] })
      assert.strictEqual(found.tracer, "debug_traceBlockByHash")
    }).pipe(Effect.scoped)
  )

  for (const [name, trace] of Object.entries(gone)) {
    it.live(`presumes that the node traces where the block has just left its chain: ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* tracerOf(trace, false), "debug_traceBlockByHash")
      }).pipe(Effect.scoped)
    )
  }
})
