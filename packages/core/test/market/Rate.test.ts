import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Rate from "@headwater/core/market/Rate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"

const decode = Schema.decodeUnknownResult(Rate.Decimal)
const decimal = (value: unknown) => Result.getOrUndefined(decode(value))

describe("Rate", () => {
  it("reads decimals of any form into the one form", () => {
    for (const [value, text] of [
      ["49053", "49053"],
      [917825524991, "917825524991"],
      ["18710831.0", "18710831"],
      ["-4.37931", "-4.37931"],
      ["1e-24", "0.000000000000000000000001"],
      ["1.5E3", "1500"],
      ["0.0", "0"],
      ["-0", "0"],
      [0, "0"]
    ] as const) {
      assert.strictEqual(decimal(value), text)
    }
  })

  it("refuses what is no decimal, has been through a float, or is absurd", () => {
    for (const value of [
      "",
      "abc",
      "1,5",
      "NaN",
      "0x1",
      " 1",
      "1 ",
      "1e41",
      "1e9999",
      "9".repeat(41),
      0.1,
      2 ** 53,
      null,
      {}
    ]) {
      assert.isUndefined(decimal(value), String(value))
    }
    assert.strictEqual(decimal("9".repeat(40)), "9".repeat(40))
  })

  it("computes changes exactly, rounded half away from zero to five digits", () => {
    assert.strictEqual(Rate.changeInPercent("100", "150"), "50")
    assert.strictEqual(Rate.changeInPercent("3", "2"), "-33.33333")
    assert.strictEqual(Rate.changeInPercent("3", "1"), "-66.66667")
    assert.strictEqual(Rate.changeInPercent("20000000", "20000000.1"), "0")
    assert.strictEqual(Rate.changeInPercent("20000000", "20000001"), "0.00001")
    assert.strictEqual(Rate.changeInPercent("20000000", "19999999"), "-0.00001")
    assert.strictEqual(Rate.changeInPercent("0.000000000000000003", "0.3"), "9999999999999999900")
    assert.isUndefined(Rate.changeInPercent("0", "1"))
    assert.isUndefined(Rate.changeInPercent("-1", "1"))
  })

  it("is never further from the true change than half of the last digit", () => {
    const scaled = (text: string) => Result.getOrThrow(Amount.parse(text, 10))
    const positive = fc.bigInt(1n, 10n ** 30n)
    fc.assert(
      fc.property(positive, positive, (from, to) => {
        const change = scaled(Rate.changeInPercent(Amount.format(from, 10), Amount.format(to, 10))!)
        const distance = (to - from) * 100n * 10n ** 10n - change * from
        assert.isTrue((distance < 0n ? -distance : distance) * 2n <= from * 10n ** 5n)
      })
    )
  })

  it("divides rates of currencies", () => {
    assert.strictEqual(Rate.quotient("75817.765", "65223.37"), "1.162432499271350131")
    assert.strictEqual(Rate.quotient("1", "3"), "0.333333333333333333")
    assert.isUndefined(Rate.quotient("1", "0"))
  })

  it("finds the nearest rate within a tenth of the period", () => {
    const series = [
      { at: 1_000, amount: "1" },
      { at: 1_350, amount: "2" },
      { at: 1_370, amount: "3" }
    ]
    assert.strictEqual(Rate.nearest(series, 1_359, 3_600)?.amount, "2")
    assert.strictEqual(Rate.nearest(series, 1_361, 3_600)?.amount, "3")
    assert.strictEqual(Rate.nearest(series, 1_730, 3_600)?.amount, "3")
    assert.isUndefined(Rate.nearest(series, 1_731, 3_600))
    assert.isUndefined(Rate.nearest([], 0, 3_600))
  })

  it("believes a quote that can be", () => {
    const now = 1_800_000_000
    const last = { amount: "100", at: now - 100 }
    assert.isUndefined(Rate.disbelief({ amount: "0.000000000000000001", at: now - Rate.maxAgeSeconds }, undefined, now))
    assert.isUndefined(Rate.disbelief({ amount: "10000", at: now }, last, now))
    assert.isUndefined(Rate.disbelief({ amount: "1", at: now }, last, now))
    assert.isUndefined(Rate.disbelief({ amount: "1", at: now + 300, marketCap: "0" }, last, now))
    assert.strictEqual(Rate.disbelief({ amount: "0.9", at: now }, last, now), "price_jump")
    assert.isUndefined(Rate.disbelief({ amount: "0.9", at: now }, { ...last, at: now - 3_600 }, now))
  })
})
