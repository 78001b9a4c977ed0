import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import type { Item } from "@headwater/core/events/Callback"
import * as Filter from "@headwater/core/events/Filter"
import * as fc from "fast-check"

const place = { blockchain: "ethereum", network: "mainnet" }
const minedInBlock = { height: 1, hash: "0x00", timestamp: 1 }
const coin = (amount: string, direction: "incoming" | "outgoing" = "incoming"): Item => ({
  ...{ ...place, address: "0x1", minedInBlock, transactionId: "0x2", amount, unit: "ETH", direction }
})
const token = (amount: string, contractAddress: string): Item => ({
  ...{ ...place, address: "0x1", minedInBlock, transactionId: "0x2", tokenType: "ERC-20", direction: "outgoing" },
  token: { name: "", symbol: "", decimals: "6", amount, contractAddress }
})

describe("Filter", () => {
  it("compares amounts exactly, whatever their size and their zeros", () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    fc.assert(
      fc.property(amount, amount, fc.nat(36), fc.nat(5), (least, moved, decimals, zeros) => {
        const text = Amount.format(least, decimals)
        const minimumAmount = `${"0".repeat(zeros)}${text}${text.includes(".") ? "0".repeat(zeros) : ""}`
        const passes = (amount: bigint) => Filter.passes({ minimumAmount }, coin(Amount.format(amount, decimals)))
        assert.strictEqual(passes(moved), moved >= least)
        assert.isTrue(passes(least))
        assert.isTrue(passes(least + 1n))
        if (least > 0n) assert.isFalse(passes(least - 1n))
      })
    )
  })

  it("asks for every part that is given, and for no other", () => {
    const usdt = token("2.5", "0xT")
    assert.isTrue(Filter.passes(undefined, usdt))
    assert.isTrue(Filter.passes({}, usdt))
    assert.isTrue(Filter.passes({ contractAddress: "0xT", direction: "outgoing", minimumAmount: "2.5" }, usdt))
    assert.isFalse(Filter.passes({ contractAddress: "0xU", direction: "outgoing", minimumAmount: "2.5" }, usdt))
    assert.isFalse(Filter.passes({ contractAddress: "0xT", direction: "incoming", minimumAmount: "2.5" }, usdt))
    assert.isFalse(Filter.passes({ contractAddress: "0xT", direction: "outgoing", minimumAmount: "2.51" }, usdt))
    assert.isFalse(Filter.passes({ contractAddress: "0xT" }, coin("1")))
  })

  it("lets blocks pass, which have neither side nor amount", () => {
    const block: Item = { ...place, height: 1, hash: "0x00", timestamp: 1 }
    assert.isTrue(Filter.passes({ direction: "incoming", minimumAmount: "1" }, block))
  })
})
