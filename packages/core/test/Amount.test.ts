import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Result from "effect/Result"
import * as fc from "fast-check"

describe("Amount", () => {
  it("writes no exponent and no trailing zeros", () => {
    assert.strictEqual(Amount.format(150_000_000n, 8), "1.5")
    assert.strictEqual(Amount.format(0n, 18), "0")
    assert.strictEqual(Amount.format(1n, 18), "0.000000000000000001")
    assert.strictEqual(Amount.format(-5n, 1), "-0.5")
    assert.strictEqual(Amount.format(42n, 0), "42")
    assert.strictEqual(Amount.format(2n ** 256n - 1n, 0), (2n ** 256n - 1n).toString())
  })

  it("reads what it writes", () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 256n), 2n ** 256n), fc.nat(77), (amount, decimals) => {
        assert.strictEqual(Result.getOrThrow(Amount.parse(Amount.format(amount, decimals), decimals)), amount)
      })
    )
  })

  it("reads exponents as nodes write them, exactly", () => {
    assert.strictEqual(Result.getOrThrow(Amount.parse("1e-8", 8)), 1n)
    assert.strictEqual(Result.getOrThrow(Amount.parse("1.5E3", 0)), 1500n)
    assert.strictEqual(Result.getOrThrow(Amount.parse("92233720368.54775807", 8)), 9223372036854775807n)
  })

  it("refuses what is not an exact amount", () => {
    for (const text of ["", ".", "1.", ".5", "0x10", "1e", "NaN", "Infinity", "1,5", " 1", "1 ", "+1", "--1", "١"]) {
      assert.isTrue(Result.isFailure(Amount.parse(text, 8)), text)
    }
    assert.isTrue(Result.isFailure(Amount.parse("0.000000001", 8)))
    assert.isTrue(Result.isFailure(Amount.parse("9".repeat(300), 8)))
  })
})
