/** Interface section 2.8, filled by nodes that say more or less. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as FakeNode from "../../FakeNode.ts"
import { block, coinbase, parent, part, tip } from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const open = (answer: FakeNode.Answer) => UtxoNode.source(bitcoin, answer)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

describe("UtxoSource: latest details", () => {
  const detailsOf = (change: object) =>
    Effect.gen(function* () {
      const json = { ...tip.json, ...change }
      return yield* (yield* open(UtxoNode.answers("core", { ...part, blocks: [parent.json, json] }))).latestDetails
    })

  it.effect("every field, with the type that the interface has", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* detailsOf({}), {
        bits: 545259519,
        chainwork: `${"00".repeat(31)}c8`,
        difficulty: 0,
        merkleRoot: tip.json.merkleroot as string,
        size: tip.raw.length / 2,
        version: 536870912,
        hash: tip.json.hash,
        height: 100,
        previousBlockHash: parent.json.hash,
        strippedSize: tip.raw.length / 2,
        timestamp: 1700000100,
        transactionsCount: 3,
        versionHex: "20000000",
        weight: tip.raw.length * 2
      })
    })
  )

  it.effect("what a node leaves out is worked out", () =>
    Effect.gen(function* () {
      const sparse = { strippedsize: undefined, weight: undefined, versionHex: undefined, nTx: undefined }
      assert.deepInclude(yield* detailsOf({ ...sparse, size: 1000, version: -2, bits: 436835377 }), {
        strippedSize: 1000,
        weight: 4000,
        versionHex: "fffffffe",
        version: -2,
        transactionsCount: 3,
        bits: 436835377
      })
      assert.deepInclude(yield* detailsOf({ size: undefined, weight: undefined }), { weight: tip.raw.length * 2 })
    })
  )

  for (const [written, difficulty] of [
    ["1", 1],
    ["16307.420938523983", 16307],
    ["138955357012247.3", 138955357012247],
    ["4.656542373906925e-10", 0],
    ["1.5e+12", 1500000000000]
  ] as const) {
    it.effect(`a difficulty of ${written} is ${difficulty}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* detailsOf({ difficulty: UtxoNode.number(written) })).difficulty, difficulty)
      })
    )
  }

  it.effect("the genesis block has 64 zeros before it", () =>
    Effect.gen(function* () {
      const { previousblockhash: _, ...genesis } = block(0, "00".repeat(32), [coinbase]).json
      const source = yield* open(UtxoNode.answers("core", { blocks: [genesis] as ReadonlyArray<UtxoNode.NodeBlock> }))
      assert.strictEqual((yield* source.latestDetails).previousBlockHash, "0".repeat(64))
      assert.strictEqual(hex((yield* source.blockAt(0)).parent), "0".repeat(64))
    })
  )

  it.effect("a field that breaks its rule is named", () =>
    Effect.gen(function* () {
      for (const [change, message] of [
        [{ bits: "zz" }, /^bits /],
        [{ difficulty: "high" }, /^difficulty /],
        [{ size: -1 }, /^size /],
        [{ version: "1" }, /^version /]
      ] as const) {
        const error = yield* Effect.flip(detailsOf(change))
        assert.strictEqual(error._tag, "NodeInconsistent")
        assert.match(error.message, message)
      }
    })
  )
})
