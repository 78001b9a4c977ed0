import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Past from "@headwater/indexer/families/evm/Past"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"

const owner = Address.fromBytes(Buffer.alloc(20, 0xab))
const hash = `0x${"cd".repeat(32)}`

/** A node whose newest block is 10, and which answers logs of a range beyond that without a word. */
const tokenBlocks = (from: number, to: number) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make((method, [first]) => {
      const log = (blockNumber: string, address = `0x${"70".repeat(20)}`) => ({ blockNumber, address })
      // Of coins the chain itself logs the transfers (EIP-7708).
      if (method === "eth_getLogs") return [log("0x9"), log("0x8", `0x${"ff".repeat(19)}fe`)]
      assert.strictEqual(method, "eth_getBlockByNumber")
      return Number(first) > 10 ? null : { number: first, hash }
    })
    const past = Past.make(yield* JsonRpc.make({ urls: [node.url] }))
    return yield* past.tokenBlocks([owner], from, to)
  }).pipe(Effect.scoped)

describe("Past.tokenBlocks", () => {
  it.live("answers with the last block of the range", () =>
    Effect.gen(function* () {
      const found = yield* tokenBlocks(5, 10)
      assert.deepStrictEqual(found.heights, [9])
      assert.strictEqual(Buffer.from(found.hash).toString("hex"), hash.slice(2))
    })
  )

  it.live("fails where the node has not come to the end of the range", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(tokenBlocks(5, 11)))._tag, "BlockMissing")
    })
  )
})
