import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as EvmNode from "@headwater/indexer/families/evm/EvmNode"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"

const address = Address.fromBytes(Buffer.alloc(20, 0xab))
const newest = { hash: `0x${"11".repeat(32)}`, number: "0x10", timestamp: "0x1" }

/** A simulation by a node that refuses to trace the call with these words. */
const refusedWith = (code: number, message: string) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make((method) => {
      if (method === "eth_getBlockByNumber") return newest
      throw new FakeNode.RpcError(code, message)
    })
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
    const call = { from: address, to: address, value: 0n, data: new Uint8Array(), gasLimit: 21_000n, gasPrice: 1n }
    return yield* EvmNode.make(rpc).simulate(call)
  }).pipe(Effect.scoped)

describe("A simulation that the node refuses to trace", () => {
  it.live("has failed where the transaction is the reason, a price below the base fee among them", () =>
    Effect.gen(function* () {
      const sender = `0x${"ab".repeat(20)}`
      for (const [code, message] of [
        // geth of before 1.10.7 and since, reth and its relatives.
        [
          -32000,
          `tracing failed: fee cap less than block base fee: address ${sender}, gasFeeCap: 0 baseFee: 54337541210`
        ],
        [
          -32000,
          `tracing failed: max fee per gas less than block base fee: address ${sender}, maxFeePerGas: 227247290, baseFee: 229157277`
        ],
        [-32003, "max fee per gas less than block base fee"],
        [-32000, "tracing failed: insufficient funds for gas * price + value: address 0xab have 0 want 1"]
      ] as const) {
        const { failed, gasUsed, moves } = yield* refusedWith(code, message)
        assert.deepStrictEqual([failed, gasUsed, moves], [true, undefined, undefined], message)
      }
    })
  )

  it.live("is no answer where the node is the reason", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(refusedWith(-32000, "header not found"))
      assert.strictEqual(error._tag, "NodeRejected")
    })
  )
})
