import { assert, describe, it } from "@effect/vitest"
import * as Steps from "@headwater/core/Steps"
import * as CoinSelection from "@headwater/core/utxo/CoinSelection"
import * as Result from "effect/Result"
import * as fc from "fast-check"

interface Coin {
  readonly amount: bigint
}

/** Fees that are a sum of parts, so that the searches count what is counted in the end. */
const linear = (rate: number, longTermRate: number, dust = 294): CoinSelection.Costs => ({
  feeOf: (inputs, hasChange) => BigInt(rate * (42 + 68 * inputs + (hasChange ? 31 : 0))),
  inputFee: BigInt(68 * rate),
  longTermInputFee: BigInt(68 * longTermRate),
  dust: BigInt(dust),
  maxInputs: 1_000
})

const coinsOf = (amounts: ReadonlyArray<number>): ReadonlyArray<Coin> =>
  amounts.map((amount) => ({ amount: BigInt(amount) }))

const seeded = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const select = (
  coins: ReadonlyArray<Coin>,
  pays: bigint,
  costs: CoinSelection.Costs,
  strategy: CoinSelection.Strategy,
  seed = 1
) => Steps.atOnce(CoinSelection.select({ coins, pays, costs, strategy, random: seeded(seed) }))

/** The plain model: every set of coins, and what it comes to. */
const everySet = (coins: ReadonlyArray<Coin>, pays: bigint, costs: CoinSelection.Costs) =>
  Array.from({ length: 2 ** coins.length - 1 }, (_, bits) =>
    CoinSelection.settle(
      coins.filter((_, index) => ((bits + 1) >> index) & 1),
      pays,
      costs
    )
  ).filter((found) => found !== undefined)

const strategies: ReadonlyArray<CoinSelection.Strategy> = ["least-waste", "minimize-dust", "optimize-size", "none"]

const wallets = fc.record({
  amounts: fc.array(fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 100_000 })), {
    minLength: 1,
    maxLength: 9
  }),
  pays: fc.oneof(fc.integer({ min: 546, max: 20_000 }), fc.integer({ min: 546, max: 300_000 })),
  rate: fc.integer({ min: 1, max: 30 }),
  longTermRate: fc.integer({ min: 1, max: 30 }),
  seed: fc.nat(2 ** 31)
})

describe("CoinSelection", () => {
  it("pays to the unit whenever any set of coins does, and never makes change below dust", () => {
    fc.assert(
      fc.property(wallets, fc.constantFrom(...strategies), ({ amounts, longTermRate, pays, rate, seed }, strategy) => {
        const [coins, costs, wanted] = [coinsOf(amounts), linear(rate, longTermRate), BigInt(pays)]
        const found = select(coins, wanted, costs, strategy, seed)
        const possible = everySet(coins, wanted, costs)
        assert.strictEqual(Result.isSuccess(found), possible.length > 0)
        if (Result.isFailure(found)) {
          assert.instanceOf(found.failure, CoinSelection.BalanceTooLow)
          const balance = coins.reduce((sum, { amount }) => sum + amount, 0n)
          assert.isTrue(wanted + (found.failure as CoinSelection.BalanceTooLow).fee > balance)
          return
        }
        const { change, coins: spent, fee } = found.success
        assert.strictEqual(new Set(spent).size, spent.length)
        assert.isTrue(spent.every((coin) => coins.includes(coin)))
        assert.strictEqual(
          spent.reduce((sum, { amount }) => sum + amount, 0n),
          wanted + fee + change
        )
        assert.isTrue(change === 0n || change >= CoinSelection.leastChange(costs))
        if (change > 0n) assert.strictEqual(fee, costs.feeOf(spent.length, true))
        else {
          const least = costs.feeOf(spent.length, false)
          assert.isTrue(fee >= least)
          // No more is given away than change would need.
          assert.isTrue(fee < costs.feeOf(spent.length, true) + CoinSelection.leastChange(costs))
        }
      }),
      { numRuns: 400 }
    )
  })

  it("wastes no more than the best set without change, and than the fewest coins", () => {
    fc.assert(
      fc.property(wallets, ({ amounts, longTermRate, pays, rate, seed }) => {
        const [coins, costs, wanted] = [coinsOf(amounts), linear(rate, longTermRate), BigInt(pays)]
        const best = select(coins, wanted, costs, "least-waste", seed)
        if (Result.isFailure(best)) return
        const { waste } = best.success
        const isWorth = ({ amount }: Coin) => amount > costs.inputFee
        // What branch and bound looks through: sets of coins that are worth their fee and give away less than change costs.
        const most = costs.feeOf(1, true) - costs.feeOf(1, false) + costs.longTermInputFee
        for (const set of everySet(coins.filter(isWorth), wanted, costs)) {
          if (set.fee - costs.feeOf(set.coins.length, false) > most || set.change > 0n) continue
          // As in Bitcoin Core, a set that suffices is left as it is, also where one more coin would count as saved.
          const [smallest, ...others] = [...set.coins].sort((a, b) => Number(a.amount - b.amount))
          if (smallest !== undefined && others.length > 0 && CoinSelection.settle(others, wanted, costs)) continue
          assert.isTrue(waste <= set.waste, `${waste} ${set.waste}`)
        }
        assert.isTrue(waste <= Result.getOrThrow(select(coins, wanted, costs, "optimize-size", seed)).waste)
        const dusted = Result.getOrThrow(select(coins, wanted, costs, "minimize-dust", seed))
        assert.isTrue(dusted.waste <= waste)
        if (rate >= longTermRate) assert.deepStrictEqual(dusted, best.success)
      }),
      { numRuns: 400 }
    )
  })

  it("spends as few coins as any set does, where the size is to be small", () => {
    fc.assert(
      fc.property(wallets, ({ amounts, longTermRate, pays, rate, seed }) => {
        const [coins, costs, wanted] = [coinsOf(amounts), linear(rate, longTermRate), BigInt(pays)]
        const found = select(coins, wanted, costs, "optimize-size", seed)
        if (Result.isFailure(found)) return
        const fewest = Math.min(...everySet(coins, wanted, costs).map(({ coins }) => coins.length))
        assert.strictEqual(found.success.coins.length, fewest)
      }),
      { numRuns: 400 }
    )
  })

  it("finds the set that needs no change, and takes coins in their order where nothing else is asked for", () => {
    const coins = coinsOf([90_000, 7_000, 30_000, 20_178, 40_000])
    const costs = linear(1, 10)
    const exact = Result.getOrThrow(select(coins, 50_000n, costs, "least-waste"))
    assert.deepStrictEqual(exact.coins.map(({ amount }) => amount).sort(), [20_178n, 30_000n])
    assert.strictEqual(exact.change, 0n)
    assert.strictEqual(exact.fee, 178n)
    const inOrder = Result.getOrThrow(select(coins, 95_000n, costs, "none"))
    assert.deepStrictEqual(inOrder.coins, coins.slice(0, 2))
    const fewest = Result.getOrThrow(select(coins, 95_000n, costs, "optimize-size"))
    assert.strictEqual(fewest.coins.length, 2)
  })

  it("spends small coins beside the others while fees are low, and not while they are high", () => {
    const coins = coinsOf([100_000, 900, 800, 700])
    const low = Result.getOrThrow(select(coins, 50_000n, linear(1, 10), "minimize-dust"))
    assert.strictEqual(low.coins.length, 4)
    const high = Result.getOrThrow(select(coins, 50_000n, linear(10, 1), "minimize-dust"))
    assert.strictEqual(high.coins.length, 1)
  })

  it("refuses more inputs than nodes relay, and says what a balance lacks", () => {
    const coins = coinsOf(new Array(50).fill(1_000))
    const few = { ...linear(1, 10), maxInputs: 10 }
    const tooMany = select(coins, 20_000n, few, "least-waste")
    assert.deepStrictEqual(Result.getOrThrow(Result.flip(tooMany)), new CoinSelection.TooManyInputs({ maximum: 10 }))
    const tooLow = select(coins, 50_000n, few, "least-waste")
    assert.deepStrictEqual(
      Result.getOrThrow(Result.flip(tooLow)),
      new CoinSelection.BalanceTooLow({ fee: few.feeOf(50, false) })
    )
  })

  it("takes turns with others while it looks through thousands of coins", () => {
    const random = seeded(7)
    const coins = coinsOf(Array.from({ length: 5_000 }, () => 1_000 + Math.floor(random() * 1_000_000)))
    const costs = linear(1, 10)
    const work = CoinSelection.select({ coins, pays: 123_456_789n, costs, strategy: "least-waste", random })
    let steps = 0
    while (work.next().done !== true) steps++
    assert.isAtLeast(steps, 100)
  })
})
