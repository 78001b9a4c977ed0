import { assert, describe, it } from "@effect/vitest"
import * as EvmExplorer from "@headwater/indexer/families/evm/EvmExplorer"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"
import { alice, bob, hex, recorded, type Tx, zero } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

const page = { limit: 50, offset: 0 }

/** What is shown of the block of these transactions, at a node that has no other. */
const shown = (txs: ReadonlyArray<Tx>) =>
  Effect.gen(function* () {
    const block = recorded(txs, {
      ...{ extraData: "0x", gasLimit: "0x1c9c380", gasUsed: "0x5208", size: "0x1", nonce: null }
    })
    const { transactions } = block.block
    const answers = EvmNode.answers([block])
    const node = yield* FakeNode.make((method, params) => {
      const [first] = params
      switch (method) {
        case "eth_getTransactionByHash":
          return transactions.find(({ hash }: EvmNode.Json) => hash === first)
        case "eth_getBlockByHash":
          return answers("eth_getBlockByNumber", params)
        case "eth_getCode":
          return "0x"
        default:
          return answers(method, params)
      }
    })
    const explorer = EvmExplorer.make(yield* JsonRpc.make({ urls: [node.url], attempts: 1 }), undefined)
    const { items, total } = (yield* explorer.transactionsOf({ height: 100 }, page))!
    assert.strictEqual(total, txs.length)
    for (const one of items) assert.deepStrictEqual(yield* explorer.transaction(one.hash), one)
    return items.map(({ fee, from, position, succeeded, to, value }) => ({
      ...{ fee, position, succeeded, value },
      ...{ from: hex(from), to: hex(to) }
    }))
  }).pipe(Effect.scoped)

const known = { from: alice, to: bob, fee: 21_000n, succeeded: true, value: 7n }

describe("EvmExplorer", () => {
  it.live("shows a transaction of a type to come as its node states it, and the others of the block", () =>
    Effect.gen(function* () {
      const paid = { effectiveGasPrice: "0x2" }
      const found = yield* shown([
        { tx: { value: "0x7" } },
        { tx: { type: "0x5", value: "0x9" }, receipt: { type: "0x5", ...paid } },
        // Its calls stand in a field of their own.
        {
          tx: { type: "0x6", to: undefined, value: undefined, gas: undefined, input: null, frames: [] },
          receipt: { type: "0x6", status: "0x0", ...paid }
        },
        { tx: { value: "0x7" } }
      ])
      assert.deepStrictEqual(found, [
        { ...known, position: 0 },
        { ...known, position: 1, fee: 42_000n, value: 9n },
        { ...known, position: 2, fee: 42_000n, value: 0n, to: undefined, succeeded: false },
        { ...known, position: 3 }
      ])
    })
  )

  it.live("shows nothing of what contradicts itself, whatever its type", () =>
    Effect.gen(function* () {
      for (const tx of [
        { value: 1 },
        { type: "0x5", from: "0x1" },
        { type: "0x5", value: 1 },
        { type: "0x5", blockHash: zero },
        { type: "later" }
      ]) {
        const { _tag } = yield* Effect.flip(shown([{ tx: { value: "0x7" } }, { tx }]))
        assert.strictEqual(_tag, "NodeInconsistent", JSON.stringify(tx))
      }
    })
  )
})
