import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Simulate from "@headwater/http/operations/evm/Simulate"
import * as Effect from "effect/Effect"

const bytes = (number: number) => {
  const address = new Uint8Array(20)
  new DataView(address.buffer).setUint32(0, number)
  return address as AddressBytes
}

/** A node on which the transaction makes so many contracts, each of which gives one token away. */
const simulated = Effect.fnUntraced(function* (made: number, prices: object = {}) {
  let kept = 0
  let asked = 0
  const record = {
    chain: Chain.ofName("ethereum/mainnet")!,
    tokens: () => Effect.succeed(new Map()),
    keepTokens: () => Effect.sync(() => void kept++)
  }
  const tokens = Array.from({ length: made }, (_, i) => ({
    ...{ kind: "token", transaction: 0, position: i, contract: bytes(i + 1), from: bytes(0), to: bytes(9) },
    ...{ standard: "fungible", amount: 5n }
  }))
  const evm = {
    account: () => Effect.succeed({ pending: 7 }),
    hasCode: () => Effect.succeed(true),
    // Nodes in Rust refuse the whole call for a price of more than 128 bits.
    simulate: ({ gasPrice }: { readonly gasPrice: bigint }) =>
      gasPrice >= 2n ** 128n
        ? Effect.die("the node was asked")
        : Effect.succeed({
            block: { height: 1, hash: new Uint8Array(32), time: 1 },
            ...{ failed: false, gasUsed: 21_000n, moves: { internal: [], tokens } }
          })
  }
  const source = {
    tokenMetadata: (contracts: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        asked += contracts.length
        return contracts.map(() => ({ name: "", symbol: "", decimals: undefined }))
      })
  }
  const freshness = { node: Effect.succeed({ evm, source }), orUnavailable: (effect: unknown) => effect }
  const address = `0x${"11".repeat(20)}`
  const answer = yield* Simulate.make(
    record as never,
    freshness as never
  )({ sender: address, recipient: address, amount: "0", gasLimit: 100_000, ...prices } as never)
  return { answer, asked, kept }
})

describe("Simulated transactions", () => {
  it.effect("leave nothing in the record of the contracts that they would make", () =>
    Effect.gen(function* () {
      const { answer, asked, kept } = yield* simulated(2)
      assert.lengthOf(answer.tokenTransfers!, 2)
      assert.deepStrictEqual([asked, kept], [2, 0])
    })
  )

  it.effect("have a hundred contracts asked for their names, however many they make", () =>
    Effect.gen(function* () {
      const { answer, asked } = yield* simulated(250)
      assert.lengthOf(answer.tokenTransfers!, 250)
      assert.strictEqual(asked, 100)
    })
  )

  it.effect("at a price that no answer can show are refused by the field's name, and no node is asked", () =>
    Effect.gen(function* () {
      for (const field of ["gasPrice", "maxFeePerGas"]) {
        const refused = yield* Effect.flip(simulated(0, { [field]: String(2n ** 128n) }))
        assert.deepInclude(refused, { details: [{ attribute: field, message: "must be at most 2^53 - 1" }] })
      }
    })
  )
})
