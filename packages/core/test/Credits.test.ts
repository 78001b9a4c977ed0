import { assert, describe, it } from "@effect/vitest"
import * as Credits from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as fc from "fast-check"

const chain = (name: string) => Chain.all.find((chain) => Chain.nameOf(chain) === `${name}/mainnet`)!

describe("Credits", () => {
  it("prices by the chain's own figure, else by the default", () => {
    assert.strictEqual(Credits.price("prepare", "binance-smart-chain"), 150)
    assert.strictEqual(Credits.price("evm-assets", "polygon"), 220)
    assert.strictEqual(Credits.price("evm-assets", "tron"), 330)
    assert.strictEqual(Credits.price("utxo-assets", "zcash"), 676)
    assert.strictEqual(Credits.price("subscription-create", "bitcoin"), 30)
    assert.strictEqual(Credits.price("asset"), 110)
    // Names from outside reach this: those of Object's own properties are no chains.
    for (const name of ["default", "__proto__", "constructor", "toString"]) {
      assert.strictEqual(Credits.price("prepare", name), 60)
    }
  })

  it("has the chain figures that the multipliers give", () => {
    // The interface's tables are the defaults times each chain's multiplier; this finds a slip in either.
    for (const [operation, column] of Object.entries(Credits.prices)) {
      for (const [name, figure] of Object.entries(column)) {
        if (name === "default") continue
        assert.closeTo(figure, column.default * chain(name).creditMultiplier, 0.51, `${operation} ${name}`)
      }
    }
  })

  it("charges days and callbacks by the chain's multiplier, in whole credits", () => {
    assert.strictEqual(Credits.onChain(200, chain("ethereum-classic")), 260)
    assert.strictEqual(Credits.onChain(200, chain("litecoin")), 220)
    assert.strictEqual(Credits.onChain(50, chain("avalanche")), 90)
    for (const each of Chain.all) assert.isTrue(Number.isInteger(Credits.onChain(25, each)))
  })

  it("charges a list by its items, at least one, or once where the operator says so", () => {
    assert.strictEqual(Credits.ofCall({ per: "result" }, 30, 0), 30)
    assert.strictEqual(Credits.ofCall({ per: "result" }, 30, 7), 210)
    assert.strictEqual(Credits.ofCall({ per: "request" }, 30, 7), 30)
  })

  it("never settles below zero, and takes exactly what it pays", () => {
    const amounts = fc.array(fc.nat(1000), { maxLength: 50 })
    fc.assert(
      fc.property(fc.nat(10_000), amounts, (before, wanted) => {
        const { balance, paid } = Credits.settle(before, wanted)
        const taken = wanted.reduce((sum, amount, i) => sum + (paid[i] ? amount : 0), 0)
        assert.strictEqual(balance, before - taken)
        assert.isAtLeast(balance, 0)
        wanted.forEach((amount, i) => {
          if (!paid[i]) assert.isAbove(amount, balance)
        })
      })
    )
  })

  it("pays for as many as the balance reaches", () => {
    assert.strictEqual(Credits.affordable(999, 200, 10), 4)
    assert.strictEqual(Credits.affordable(9999, 200, 10), 10)
    assert.strictEqual(Credits.affordable(0, 200, 10), 0)
    assert.strictEqual(Credits.affordable(0, 0, 10), 10)
  })

  it("counts the days that are over", () => {
    const noon = Date.UTC(2026, 10, 21, 12)
    const today = Credits.dayOf(noon)
    assert.strictEqual(Credits.dayText(today), "2026-11-21")
    assert.strictEqual(Credits.endOfDay(today), Date.UTC(2026, 10, 22))
    assert.deepStrictEqual(Credits.daysToCharge(today - 1, noon), [])
    assert.deepStrictEqual(Credits.daysToCharge(today - 4, noon), [today - 3, today - 2, today - 1])
    // A clock that goes back owes nothing.
    assert.deepStrictEqual(Credits.daysToCharge(today + 5, noon), [])
  })
})
