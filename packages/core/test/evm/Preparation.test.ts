import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const wei = fc.bigInt({ min: 0n, max: 10n ** 24n })
const market = fc.record({
  baseFee: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined }),
  tips: fc
    .array(fc.bigInt({ min: 0n, max: 10n ** 11n }), { minLength: 3, maxLength: 3 })
    .map((tips) => tips.sort((a, b) => (a < b ? -1 : 1))),
  suggestedPrice: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  suggestedTip: fc.option(fc.bigInt({ min: 0n, max: 10n ** 10n }), { nil: undefined })
})
const type = fc.constantFrom(
  "legacy-transaction" as const,
  "access-list-transaction" as const,
  "gas-fee-market-transaction" as const
)

describe("Preparation", () => {
  it("names the types of a chain, the usual one first", () => {
    const of = (name: string) => Preparation.typesOf(Result.getOrThrow(Chain.find(name, "mainnet")).evm!)
    assert.deepStrictEqual(of("ethereum"), [
      "gas-fee-market-transaction",
      "legacy-transaction",
      "access-list-transaction"
    ])
    assert.deepStrictEqual(of("ethereum-classic"), ["legacy-transaction", "access-list-transaction"])
  })

  it("offers enough for the next block, more for a higher priority, and what is whole as one price", () =>
    fc.assert(
      fc.property(market, type, fc.boolean(), (market, type, whole) => {
        const offers = (["slow", "standard", "fast"] as const).map((priority) =>
          Preparation.feeQuote(type, market, priority, whole)
        )
        for (const { cap, tip } of offers) {
          assert.isTrue(cap > 0n && tip <= cap)
          if (market.baseFee !== undefined) assert.isTrue(cap >= market.baseFee)
          if (whole || type !== "gas-fee-market-transaction") assert.strictEqual(cap, tip)
          assert.isTrue(tip > 0n)
        }
        if (market.tips[0]! > 0n) {
          assert.isTrue(offers[0]!.cap <= offers[1]!.cap && offers[1]!.cap <= offers[2]!.cap)
        }
      })
    ))

  it("offers twice the base fee and the tip of the priority", () => {
    const market = { baseFee: 100n, tips: [1n, 5n, 20n], suggestedPrice: 7n, suggestedTip: 3n }
    assert.deepStrictEqual(Preparation.feeQuote("gas-fee-market-transaction", market, "fast", false), {
      cap: 220n,
      tip: 20n
    })
    assert.deepStrictEqual(Preparation.feeQuote("legacy-transaction", market, "slow", false), { cap: 128n, tip: 128n })
    const quiet = { ...market, tips: [0n, 0n, 0n] }
    assert.deepStrictEqual(Preparation.feeQuote("gas-fee-market-transaction", quiet, "slow", false), {
      cap: 203n,
      tip: 3n
    })
    const built = { ...market, tips: [0n, 5n, 20n] }
    assert.deepStrictEqual(Preparation.feeQuote("gas-fee-market-transaction", built, "slow", false), {
      cap: 201n,
      tip: 1n
    })
    // Of an offer of 10 and more a high base fee may have left less.
    const bound = { ...market, leastTip: 10n }
    assert.deepStrictEqual(
      (["slow", "fast"] as const).map((each) => Preparation.feeQuote("gas-fee-market-transaction", bound, each, false)),
      [
        { cap: 210n, tip: 10n },
        { cap: 220n, tip: 20n }
      ]
    )
    assert.strictEqual(Preparation.feeQuote("legacy-transaction", bound, "slow", true).cap, 127n + 10n)
    const classic = { baseFee: undefined, tips: [0n, 0n, 0n], suggestedPrice: 7n, suggestedTip: undefined }
    assert.deepStrictEqual(Preparation.feeQuote("legacy-transaction", classic, "fast", false), { cap: 7n, tip: 7n })
  })

  it("sends what a balance can pay, and nothing that it cannot", () =>
    fc.assert(
      fc.property(wei, wei, wei, wei, fc.boolean(), (amount, balance, gasFee, dataFee, fromAmount) => {
        const value = Preparation.valueOf(ethereum, {
          ...{ amount, balance, afterPending: false },
          ...{ gasFee, dataFee, fromAmount }
        })
        const fee = gasFee + dataFee
        if (Result.isSuccess(value)) {
          assert.isTrue(value.success >= 0n)
          assert.strictEqual(value.success + fee, fromAmount ? amount : amount + fee)
          assert.isTrue(value.success + fee <= balance)
        } else {
          assert.isTrue(fromAmount ? balance < amount || amount < fee : balance < amount + fee)
        }
      })
    ))

  it("says what there is and what it takes", () => {
    const refusal = (about: Partial<Preparation.Payment>) => {
      const value = Preparation.valueOf(ethereum, {
        ...{ amount: 2n * 10n ** 18n, balance: 15n * 10n ** 17n, afterPending: false },
        ...{ gasFee: 21_000n * 10n ** 9n, dataFee: 0n, fromAmount: false },
        ...about
      })
      return Result.isFailure(value) ? value.failure.message : "payable"
    }
    assert.strictEqual(
      refusal({}),
      "the sender has 1.5 ETH and needs 2.000021 ETH: amount 2 ETH, fee up to 0.000021 ETH"
    )
    assert.strictEqual(
      refusal({ dataFee: 10n ** 12n, fromAmount: true, afterPending: true }),
      "the sender has 1.5 ETH beside what its waiting transactions take and needs 2 ETH, of which the fee takes up to " +
        "0.000022 ETH"
    )
    assert.strictEqual(
      refusal({ amount: 1n, fromAmount: true }),
      "the amount is 0.000000000000000001 ETH and the fee 0.000021 ETH"
    )
  })

  it("adds 30 % to an estimate, within what one transaction may take", () => {
    assert.strictEqual(Preparation.withMargin(50_001n), 65_001n)
    // EIP-7825, unless the node says that more is taken.
    assert.strictEqual(Preparation.withMargin(16_000_000n), 2n ** 24n)
    assert.strictEqual(Preparation.withMargin(20_000_000n), 26_000_000n)
  })

  it("reserves a charge of the layer below as it is after two blocks of the steepest rise", () => {
    assert.strictEqual(Preparation.dataFeeReserve(0n), 0n)
    assert.strictEqual(Preparation.dataFeeReserve(1n), 2n)
    assert.strictEqual(Preparation.dataFeeReserve(6_400n), 8_100n)
  })
})
