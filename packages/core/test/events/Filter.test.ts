import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Chain from "@headwater/core/chains/Chain"
import * as EventAbi from "@headwater/core/evm/EventAbi"
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
    // A token's contract may say any number of decimals up to 255.
    for (const decimals of [78, 79, 200, 255]) {
      const one = token(Amount.format(1n, decimals), "0xT")
      assert.isFalse(Filter.passes({ minimumAmount: "1" }, one))
      assert.isTrue(Filter.passes({ minimumAmount: "0" }, one))
    }
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

  it("asks for topics as eth_getLogs does, and for the event of an ABI, whose arguments are told", () => {
    const chain = Chain.ofName("ethereum/mainnet")!
    const abi = "event Approval(address indexed owner, address indexed spender, uint256 value)"
    const word = (digits: string) => `0x${digits.padStart(64, "0")}`
    const [approval, owner, spender] = [EventAbi.topicOf(abi)!, word("aa".repeat(20)), word("bb".repeat(20))]
    const log: Item = {
      ...{ ...place, address: "0x1", minedInBlock, transactionId: "0x2", logIndex: 3 },
      ...{ topics: [approval, owner, spender], data: word("05") }
    }
    const passing: ReadonlyArray<Filter.Filter> = [
      {},
      { topics: [] },
      { topics: [approval] },
      { topics: [null, null, spender] },
      { topics: [[word("1"), approval.toUpperCase().replace("X", "x")], owner] },
      { abi, topics: [null, owner] }
    ]
    for (const filter of passing) assert.isTrue(Filter.passes(filter, log), JSON.stringify(filter))
    const others: ReadonlyArray<Filter.Filter> = [
      { topics: [owner] },
      { topics: [null, null, owner] },
      { topics: [null, null, null, word("1")] },
      { topics: [null, null, null, null] },
      { topics: [[word("1"), word("2")]] },
      { abi: "event Other()" },
      { abi, topics: [null, spender] }
    ]
    for (const filter of others) assert.isFalse(Filter.passes(filter, log), JSON.stringify(filter))
    const { decoded } = Filter.told(chain, { abi }, log) as {
      decoded?: { arguments: ReadonlyArray<{ value: unknown }> }
    }
    assert.strictEqual(decoded?.arguments[2]?.value, "5")
    assert.strictEqual(Filter.told(chain, { topics: [approval] }, log), log)
    assert.isUndefined(Filter.told(chain, { topics: [owner] }, log))
    // Of the same first topic with other parts indexed, which no ABI of this event reads: told as the contract logs it.
    const other = { ...log, topics: [approval, owner] }
    assert.strictEqual(Filter.told(chain, { abi }, other), other)
  })

  it("lets blocks pass, which have neither side nor amount", () => {
    const block: Item = { ...place, height: 1, hash: "0x00", timestamp: 1 }
    assert.isTrue(Filter.passes({ direction: "incoming", minimumAmount: "1" }, block))
  })
})
