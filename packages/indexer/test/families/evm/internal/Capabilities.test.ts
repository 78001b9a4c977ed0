import { assert, describe, it } from "@effect/vitest"
import * as Capabilities from "@headwater/indexer/families/evm/internal/Capabilities"
import type { Tracer } from "@headwater/indexer/families/evm/internal/Trace"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../../FakeNode.ts"

const block = { number: "0x1", hash: `0x${"b1".repeat(32)}`, transactions: [`0x${"a1".repeat(32)}`] }

/** A node that has lost the state which a call tracer runs on. */
const answers =
  (hasTraceBlock: boolean): FakeNode.Answer =>
  (method) => {
    if (method === "eth_chainId") return "0x1"
    if (method === "eth_getBlockByNumber") return block
    if (method === "eth_getBlockReceipts") return []
    if (method === "debug_traceBlockByHash") return [{ txHash: block.transactions[0], error: "Resource not found" }]
    if (method === "trace_block" && hasTraceBlock) return [{ traceAddress: [], type: "call" }]
    throw new FakeNode.RpcError(-32601, `the method ${method} does not exist/is not available`)
  }

const tracerOf = Effect.fnUntraced(function* (hasTraceBlock: boolean) {
  const { url } = yield* FakeNode.make(answers(hasTraceBlock))
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const tracers: ReadonlyArray<Tracer> = ["debug_traceBlockByHash", "trace_block"]
  return (yield* Capabilities.detect(rpc, { tracers, chainId: 1 })).tracer
})

describe("Capabilities", () => {
  it.live("takes another tracer where one has nothing but errors to give", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tracerOf(true), "trace_block")
      // The only one there is, is kept: what is missing may come back, and no block is read without its traces.
      assert.strictEqual(yield* tracerOf(false), "debug_traceBlockByHash")
    }).pipe(Effect.scoped)
  )
})
