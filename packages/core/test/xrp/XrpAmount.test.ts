import { assert, describe, it } from "@effect/vitest"
import * as XrpAmount from "@headwater/core/xrp/XrpAmount"
import * as Result from "effect/Result"
import fc from "fast-check"

const item = (json: unknown) => XrpAmount.toItem(Result.getOrThrow(XrpAmount.decode(json)))

const hexCode = (text: string) => Buffer.from(text).toString("hex").padEnd(40, "0").toUpperCase()

describe("XrpAmount", () => {
  it.each([
    ["1", "0.000001"],
    ["0", "0"],
    ["99999578386913031", "99999578386.913031"],
    ["1000000", "1"]
  ])("%s drops are %s XRP", (drops, amount) => {
    assert.deepStrictEqual(item(drops), { amount, unit: "XRP" })
  })

  it.each([
    ["493.4497058520619", "493.4497058520619"],
    ["0.00001840000", "0.0000184"],
    ["1e-81", `0.${"0".repeat(80)}1`],
    ["9999999999999999e80", `9999999999999999${"0".repeat(80)}`],
    ["1.5E3", "1500"],
    ["-7", "-7"]
  ])("a token's value %s is %s", (value, amount) => {
    assert.deepStrictEqual(item({ currency: "USD", issuer: "r", value }), { amount, unit: "USD" })
  })

  it("names currencies by code, by the text of a long code, or by its hex", () => {
    const nameOf = (currency: string) => item({ currency, issuer: "r", value: "1" }).unit
    assert.strictEqual(nameOf("CNY"), "CNY")
    assert.strictEqual(nameOf(hexCode("SOLO")), "SOLO")
    assert.strictEqual(nameOf("0000000000000000000000005553440000000000"), "USD")
    // Demurrage currency of 2014, an AMM's share, and codes that would pass for XRP.
    const kept = ["0158415500000000C1F76FF6ECB0BAC600000000", "03B20F3A7D26D33C6DA3503E5CCE3E67B102D4D2"]
    for (const code of [...kept, hexCode("XRP"), hexCode("xrp"), "0000000000000000000000005852500000000000"]) {
      assert.strictEqual(nameOf(code), code)
    }
    assert.strictEqual(nameOf("0".repeat(40)), "0".repeat(40))
    // The ledger refuses nothing but the capitals.
    const lowerCase = "0000000000000000000000007872700000000000"
    assert.deepStrictEqual(["xrp", lowerCase].map(nameOf), [lowerCase, lowerCase])
  })

  it("reads multi-purpose tokens", () => {
    const id = "00000f6c5b6a4d1d7d9d5d6b6c6d7e7f8f9f0a0b0c0d0e0f"
    assert.deepStrictEqual(item({ mpt_issuance_id: id, value: "100" }), { amount: "100", unit: id.toUpperCase() })
  })

  it("refuses everything else", () => {
    const wrong = [
      undefined,
      null,
      5,
      "",
      "1.5",
      "-1",
      "1e5",
      {},
      { currency: "USD" },
      { currency: "USD", issuer: "r", value: "1e999" },
      { currency: "USD", issuer: "r", value: "NaN" },
      { currency: "U", issuer: "r", value: "1" }
    ]
    for (const json of wrong) assert.isTrue(Result.isFailure(XrpAmount.decode(json)), JSON.stringify(json))
  })

  it("keeps every drop", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (drops) => {
        const { amount } = item(String(drops))
        const [whole, fraction = ""] = amount.split(".")
        assert.strictEqual(BigInt(whole!) * 1_000_000n + BigInt(fraction.padEnd(6, "0")), drops)
      })
    )
  })
})
