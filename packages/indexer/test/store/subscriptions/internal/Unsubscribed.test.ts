import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Unsubscribed from "../../../../src/store/subscriptions/internal/Unsubscribed.ts"

const seen = new Map([1, 2].map((number) => [`0${number}`, Address.fromBytes(Uint8Array.of(number))]))

describe("Unsubscribed", () => {
  it("names no address again that no subscription had, until the chain's revision moves", () => {
    const { add, others } = Unsubscribed.make()
    assert.deepStrictEqual([...others(7, seen).keys()], ["01", "02"])
    add(["01"])
    assert.deepStrictEqual([...others(7, seen).keys()], ["02"])
    assert.deepStrictEqual([...others(8, seen).keys()], ["01", "02"])
    assert.deepStrictEqual([...others(7, seen).keys()], ["01", "02"])
  })
})
