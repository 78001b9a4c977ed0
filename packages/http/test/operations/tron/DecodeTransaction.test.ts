import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as DecodeTransaction from "@headwater/http/operations/tron/DecodeTransaction"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Protobuf from "../../../../core/src/tron/internal/Protobuf.ts"

const chain = Chain.ofName("tron/mainnet")!
const account = (byte: number) => Address.fromBytes(new Uint8Array(20).fill(byte))
const contract = 11

const rawData = (to: number, amount: bigint) =>
  TronTransfer.encode({
    ...{ owner: account(1), to: account(to), amount, memo: new Uint8Array(0) },
    ...{ refBlockBytes: Uint8Array.of(1, 2), refBlockHash: new Uint8Array(8).fill(3) },
    ...{ expiration: 1_700_000_060_000, timestamp: 1_700_000_000_000 }
  })

const decode = (bytes: Uint8Array) =>
  DecodeTransaction.make(chain)({ rawTransactionHex: Buffer.from(bytes).toString("hex") } as never)

describe("a raw transaction of Tron", () => {
  it.effect("is what a node would read and send, whatever stands beside it", () =>
    Effect.gen(function* () {
      const real = rawData(2, 900_000_000n)
      const shown = Result.getOrThrow(Protobuf.decode(rawData(3, 1n))).find(({ number }) => number === contract)!
      const signature = new Uint8Array(65).fill(7)
      const signed = [[1, real] as const, [2, signature] as const]
      // A field that a transaction does not have; in `raw_data` it is the contract.
      const both = Protobuf.encode([...signed, [contract, shown.value]])
      const { gasLimit, id, recipient, value } = yield* decode(both)
      // Bandwidth by its bytes, those of every signature among them.
      const signedTwice = Protobuf.encode([...signed, [2, signature]])
      assert.strictEqual((yield* decode(signedTwice)).gasLimit, gasLimit + 67)
      assert.deepStrictEqual(
        [id, recipient, value.amount],
        [Hash.encode(chain, TronTransaction.id(real)), Address.encode(chain, account(2)), "900"]
      )
      assert.deepStrictEqual(yield* decode(both), yield* decode(Protobuf.encode(signed)))
      assert.strictEqual((yield* decode(real)).value.amount, "900")
      // Nodes join the parts of a message that stands there twice.
      const twice = yield* Effect.result(decode(Protobuf.encode([...signed, [1, rawData(3, 1n)]])))
      assert.isTrue(Result.isFailure(twice))
      // Empty, the second parameter changes nothing for nodes, and would be the one that is shown.
      const around = Result.getOrThrow(Protobuf.decode(real))
      const fields = Result.getOrThrow(
        Protobuf.decode(around.find(({ number }) => number === contract)!.value as Uint8Array)
      )
      const written = [...fields, { number: 2, value: Protobuf.encode([[3, 1n]]) }].map(
        ({ number, value }) => [number, value] as const
      )
      const hidden = around.map(({ number, value }) =>
        number === contract ? ([number, Protobuf.encode(written)] as const) : ([number, value] as const)
      )
      const refused = yield* Effect.flip(decode(Protobuf.encode([[1, Protobuf.encode(hidden)]])))
      assert.include(refused.message, "there must be one parameter")
    })
  )
})
