import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as TokenNames from "@headwater/http/operations/evm/TokenNames"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"

const contract = (number: number) => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes as AddressBytes
}
const numberOf = (bytes: AddressBytes) => new DataView(bytes.buffer).getUint32(0)
const metadata = (symbol: string): TokenMetadata => ({ name: symbol, symbol, decimals: 2 })

/** A record that knows the even contracts, and a node that answers so many times. */
const setting = (answers: number) => {
  const asked: Array<number> = []
  const kept: Array<readonly [number, string, number]> = []
  const record = {
    tokens: (contracts: ReadonlyArray<AddressBytes>) =>
      Effect.succeed(
        new Map(
          contracts.filter((bytes) => numberOf(bytes) % 2 === 0).map((bytes) => [Bytes.key(bytes), metadata("known")])
        )
      ),
    keepTokens: (learned) =>
      Effect.sync(() => {
        for (const { contract, height, metadata } of learned) kept.push([numberOf(contract), metadata.symbol, height])
      })
  } satisfies Pick<ChainReader, "keepTokens" | "tokens">
  const tokenMetadata = (contracts: ReadonlyArray<AddressBytes>) =>
    Effect.suspend(() => {
      asked.push(contracts.length)
      return asked.length > answers
        ? Effect.fail(new NodeUnreachable({ node: "n", method: "eth_call", message: "off" }))
        : Effect.succeed(contracts.map((bytes) => metadata(`T${numberOf(bytes)}`)))
    })
  // Nothing else of a record is read.
  return { record: record as unknown as ChainReader, tokenMetadata, asked, kept }
}

describe("TokenNames", () => {
  it.effect("asks the node for what the record does not know, and has the record keep it", () =>
    Effect.gen(function* () {
      const { asked, kept, record, tokenMetadata } = setting(1)
      const found = yield* TokenNames.find(record, { tokenMetadata }, 77, [1, 2, 3].map(contract))
      assert.deepStrictEqual(
        [1, 2, 3].map((number) => found.get(Bytes.key(contract(number)))?.symbol),
        ["T1", "known", "T3"]
      )
      assert.deepStrictEqual(asked, [2])
      assert.deepStrictEqual(kept, [
        [1, "T1", 77],
        [3, "T3", 77]
      ])
    })
  )

  it.effect("keeps nothing of a contract that says nothing: the node may be behind the block of the contract", () =>
    Effect.gen(function* () {
      const { kept, record } = setting(0)
      const silent = { name: "", symbol: "", decimals: undefined }
      const tokenMetadata = (contracts: ReadonlyArray<AddressBytes>) =>
        Effect.succeed(contracts.map((bytes) => (numberOf(bytes) === 1 ? silent : { ...silent, decimals: 0 })))
      const found = yield* TokenNames.find(record, { tokenMetadata }, 77, [1, 3].map(contract))
      assert.deepStrictEqual([...found.values()], [silent, { ...silent, decimals: 0 }])
      assert.deepStrictEqual(kept, [[3, "", 77]])
    })
  )

  it.effect("asks again for a contract that had said nothing when the record asked", () =>
    Effect.gen(function* () {
      const { asked, kept, record, tokenMetadata } = setting(1)
      const silent = { name: "", symbol: "", decimals: undefined }
      const tokens = () => Effect.succeed(new Map([[Bytes.key(contract(1)), silent]]))
      const found = yield* TokenNames.find({ ...record, tokens }, { tokenMetadata }, 77, [contract(1)])
      assert.strictEqual(found.get(Bytes.key(contract(1)))?.symbol, "T1")
      assert.deepStrictEqual([asked, kept], [[1], [[1, "T1", 77]]])
    })
  )

  it.effect("has kept what the node has said before it fails", () =>
    Effect.gen(function* () {
      const { asked, kept, record, tokenMetadata } = setting(2)
      const odd = Array.from({ length: 250 }, (_, i) => contract(2 * i + 1))
      const error = yield* Effect.flip(TokenNames.find(record, { tokenMetadata }, 77, odd))
      assert.strictEqual(error._tag, "NodeUnreachable")
      assert.deepStrictEqual(asked, [100, 100, 50])
      assert.lengthOf(kept, 200)
    })
  )

  it.effect("goes without the node where it knows no tokens", () =>
    Effect.gen(function* () {
      const { kept, record } = setting(0)
      const found = yield* TokenNames.find(record, {}, 77, [1, 2].map(contract))
      assert.deepStrictEqual([...found.keys()], [Bytes.key(contract(2))])
      assert.deepStrictEqual(kept, [])
    })
  )
})
