import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as TokenTransfer from "@headwater/http/operations/evm/TokenTransfer"
import * as Effect from "effect/Effect"

const ethereum = Chain.ofName("ethereum/mainnet")!
const address = (byte: string) => `0x${byte.repeat(20)}`

describe("Transfers of tokens", () => {
  it.effect("are not written to the token's own contract, where they would be lost", () =>
    Effect.gen(function* () {
      const write = (recipient: string) =>
        TokenTransfer.write(ethereum, () => Effect.succeed(6), {
          ...{ contract: address("22"), recipient, sender: address("11"), amount: "1.5" }
        })
      const refused = yield* Effect.flip(write(address("22")))
      assert.strictEqual(refused._tag, "invalid_data")
      assert.match(refused.message, /recipient.*must not be the token's contract/)
      const { data } = yield* write(address("33"))
      assert.strictEqual(
        data.toString("hex"),
        `a9059cbb${"0".repeat(24)}${"33".repeat(20)}${(1_500_000).toString(16).padStart(64, "0")}`
      )
    })
  )

  it.effect("take the same gas to a made-up recipient each time, who has no bytes that take less", () =>
    Effect.gen(function* () {
      const { toNobody } = yield* TokenTransfer.write(ethereum, () => Effect.succeed(6), {
        ...{ contract: address("22"), recipient: address("33"), sender: address("11"), amount: "1.5" }
      })
      assert.notInclude([...toNobody.subarray(16, 36)], 0)
    }).pipe(Effect.repeat({ times: 200 }))
  )
})
