import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as MarketSettings from "../../src/market/MarketSettings.ts"

const decode = Schema.decodeUnknownResult(MarketSettings.schema)
const problem = (settings: unknown) =>
  Result.match(decode(settings), { onSuccess: () => "", onFailure: ({ message }) => message })

describe("MarketSettings", () => {
  it("asks nobody unless it is told to", () => {
    assert.deepStrictEqual(Result.getOrThrow(decode({})), {})
  })

  it("turns a provider on with an empty table", () => {
    assert.deepStrictEqual(Result.getOrThrow(decode({ coingecko: {} })).coingecko, {
      ...{ plan: "demo", top: 200, ids: [], contracts: [], logos: true },
      ...{ ratesMinutes: 5, currenciesMinutes: 60, describeDays: 30 }
    })
  })

  it("stays within 10,000 requests a month as it is", () => {
    const { currenciesMinutes, describeDays, ratesMinutes, top } = Result.getOrThrow(decode({ coingecko: {} }))
      .coingecko!
    const month = 30 * 1440
    const bundled = 13
    const batches = Math.ceil((top + bundled) / 250)
    const described = ((top + bundled) * 30) / describeDays
    assert.isBelow((month / ratesMinutes) * batches + month / currenciesMinutes + 30 + described, 10_000)
  })

  it("hides the key, and wants one for the plan pro", () => {
    const { key } = Result.getOrThrow(decode({ coingecko: { key: "very-secret", plan: "pro" } })).coingecko!
    assert.strictEqual(String(key), "<redacted>")
    assert.strictEqual(Redacted.value(key!), "very-secret")
    assert.match(problem({ coingecko: { plan: "pro" } }), /is needed for the plan pro/)
  })

  it("names what is wrong", () => {
    for (const [settings, rule] of [
      [{ coingecko: { url: "ftp://x" } }, /must be a URL/],
      [{ coingecko: { contracts: ["0xabc"] } }, /must be blockchain\/network\/address/],
      [{ coingecko: { contracts: ["solana/mainnet/x"] } }, /must be blockchain\/network\/address/],
      [{ coingecko: { ratesMinutes: 0 } }, /must be a whole number from 1 to 10080/],
      [{ file: { path: "" } }, /must not be empty/]
    ] as const) {
      assert.match(problem(settings), rule)
    }
    assert.strictEqual(problem({ coingecko: { contracts: ["ethereum/mainnet/0xabc"] } }), "")
  })
})
