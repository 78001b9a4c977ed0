import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as TokenNames from "@headwater/http/operations/evm/TokenNames"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

const contract = (number: number) => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes as AddressBytes
}
const fungible = (number: number) => ({ contract: contract(number), token: "fungible" as const })
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
          contracts
            .filter((bytes) => numberOf(bytes) % 2 === 0)
            .map((bytes) => [Bytes.key(bytes), { contract: bytes, height: 7, askedAt: 0, metadata: metadata("known") }])
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
      const found = yield* TokenNames.find(record, { tokenMetadata }, 77, [1, 2, 3].map(fungible))
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
      const found = yield* TokenNames.find(record, { tokenMetadata }, 77, [1, 3].map(fungible))
      assert.deepStrictEqual([...found.values()], [silent, { ...silent, decimals: 0 }])
      assert.deepStrictEqual(kept, [[3, "", 77]])
    })
  )

  it.effect(
    "asks again, ten minutes later, for a fungible token without decimals, and keeps that it was asked for",
    () =>
      Effect.gen(function* () {
        const { asked, kept, record, tokenMetadata } = setting(1)
        const silent = { name: "", symbol: "S", decimals: undefined }
        const known = { contract: contract(1), height: 7, askedAt: 0, metadata: silent }
        const tokens = () => Effect.succeed(new Map([[Bytes.key(contract(1)), known]]))
        const find = (token: TokenTransfer["token"], answer: TokenMetadata | undefined) =>
          Effect.map(
            TokenNames.find(
              { ...record, tokens },
              { tokenMetadata: answer === undefined ? tokenMetadata : () => Effect.succeed([answer]) },
              77,
              [{ contract: contract(1), token }]
            ),
            (found) => found.get(Bytes.key(contract(1)))
          )
        yield* TestClock.setTime(599_000)
        assert.deepStrictEqual(yield* find("fungible", undefined), silent)
        yield* TestClock.setTime(600_000)
        assert.deepStrictEqual(yield* find("multi", undefined), silent)
        assert.deepStrictEqual([asked, kept], [[], []])
        assert.deepStrictEqual(yield* find("fungible", { ...silent, symbol: "" }), silent)
        assert.deepStrictEqual(yield* find("fungible", undefined), metadata("T1"))
        assert.deepStrictEqual(kept, [
          [1, "", 77],
          [1, "T1", 77]
        ])
      })
  )

  it.effect("has kept what the node has said before it fails", () =>
    Effect.gen(function* () {
      const { asked, kept, record, tokenMetadata } = setting(2)
      const odd = Array.from({ length: 250 }, (_, i) => fungible(2 * i + 1))
      const error = yield* Effect.flip(TokenNames.find(record, { tokenMetadata }, 77, odd))
      assert.strictEqual(error._tag, "NodeUnreachable")
      assert.deepStrictEqual(asked, [100, 100, 50])
      assert.lengthOf(kept, 200)
    })
  )

  it.effect("goes without the node where it knows no tokens", () =>
    Effect.gen(function* () {
      const { kept, record } = setting(0)
      const found = yield* TokenNames.find(record, {}, 77, [1, 2].map(fungible))
      assert.deepStrictEqual([...found.keys()], [Bytes.key(contract(2))])
      assert.deepStrictEqual(kept, [])
    })
  )
})
