/**
 * Which coins a transaction spends.
 *
 * Branch and bound looks for coins that need no change, a knapsack search for coins that leave little; of what they find,
 * that is taken which wastes least by the metric of Bitcoin Core: what the inputs cost more now than in the long term, and
 * either the cost of making and spending change or what is given away for want of it. Every result is counted exactly.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { branchAndBound } from "./internal/BranchAndBound.ts"
import { knapsack, type Random } from "./internal/Knapsack.ts"

/**
 * `least-waste`: as above. `minimize-dust`: small coins are spent beside those where that wastes less, at low fees.
 * `optimize-size`: the fewest inputs. `none`: coins in the order in which they are given.
 */
export type Strategy = "least-waste" | "minimize-dust" | "optimize-size" | "none"

/** Costs of a transaction and its parts, in the smallest unit. */
export interface Costs {
  /** The whole fee with so many inputs. */
  readonly feeOf: (inputs: number, hasChange: boolean) => bigint
  /** The fee of one more input, no less than by {@link feeOf}. */
  readonly inputFee: bigint
  /** The expected fee of an input at some later day, that of the change too. */
  readonly longTermInputFee: bigint
  /** Change below this is never made. */
  readonly dust: bigint
  /** The most inputs of a transaction that nodes relay. */
  readonly maxInputs: number
}

export interface Request<C> {
  /** In the order of their finding. */
  readonly coins: ReadonlyArray<C>
  /** The sum of the recipients' amounts. */
  readonly pays: bigint
  readonly costs: Costs
  readonly strategy: Strategy
  readonly random: Random
}

export interface Selection<C> {
  readonly coins: ReadonlyArray<C>
  /** The coins less the recipients and the change. */
  readonly fee: bigint
  /** 0 where there is none. */
  readonly change: bigint
  /** By the metric of Bitcoin Core. */
  readonly waste: bigint
}

/** The coins do not pay the recipients and the fee. */
export class BalanceTooLow extends Schema.TaggedError<BalanceTooLow>()("BalanceTooLow", {
  /** The fee of a transaction that spends all coins. */
  fee: Schema.BigInt
}) {}

/** The coins would do, but so many inputs are not relayed. */
export class TooManyInputs extends Schema.TaggedError<TooManyInputs>()("TooManyInputs", {
  maximum: Schema.Int
}) {}

/** The least change that is worth making: no dust, and more than it costs to spend. */
export const leastChange = ({ dust, longTermInputFee }: Costs): bigint =>
  dust > longTermInputFee ? dust : longTermInputFee + 1n

/** The selection that these coins make; undefined where they do not suffice. */
export const settle = <C extends { readonly amount: bigint }>(
  coins: ReadonlyArray<C>,
  pays: bigint,
  costs: Costs
): Selection<C> | undefined => {
  const left = coins.reduce((sum, { amount }) => sum + amount, -pays)
  const inputWaste = BigInt(coins.length) * (costs.inputFee - costs.longTermInputFee)
  const feeWithChange = costs.feeOf(coins.length, true)
  const change = left - feeWithChange
  if (change >= leastChange(costs)) {
    const changeFee = feeWithChange - costs.feeOf(coins.length, false)
    return { coins, fee: feeWithChange, change, waste: inputWaste + changeFee + costs.longTermInputFee }
  }
  const given = left - costs.feeOf(coins.length, false)
  return given < 0n ? undefined : { coins, fee: left, change: 0n, waste: inputWaste + given }
}

/** Coins one after another until they suffice. */
const accumulate = <C extends { readonly amount: bigint }>(
  coins: ReadonlyArray<C>,
  pays: bigint,
  costs: Costs
): Selection<C> | undefined => {
  let left = -pays
  for (const [index, { amount }] of coins.entries()) {
    left += amount
    // Change that costs less than it is worth is no reason for another coin.
    if (left >= costs.feeOf(index + 1, false)) return settle(coins.slice(0, index + 1), pays, costs)
  }
  return undefined
}

/** A coin is small that is worth less than so many fees of its spending. */
const feesOfSmallCoin = 10n

/** Small coins beside those that were selected, as many as lower the waste most. */
const withSmallCoins = <C extends { readonly amount: bigint }>(
  selection: Selection<C>,
  { costs, pays }: Pick<Request<C>, "costs" | "pays">,
  worth: ReadonlyArray<C>
): Selection<C> => {
  if (costs.inputFee >= costs.longTermInputFee) return selection
  const selected = new Set(selection.coins)
  const small = worth.filter((coin) => coin.amount < feesOfSmallCoin * costs.longTermInputFee && !selected.has(coin))
  // Each lowers it by as much as the others; fewer may only be better where the first ones make change necessary.
  const all = [...selection.coins, ...small].slice(0, costs.maxInputs)
  const found = settle(all, pays, costs)
  return found !== undefined && found.waste < selection.waste ? found : selection
}

/** The searches, each in its turn. */
function* found<C extends { readonly amount: bigint }>(
  { costs, pays, random }: Request<C>,
  worth: ReadonlyArray<C>
): Generator<void, ReadonlyArray<Selection<C>>> {
  const values = worth.map(({ amount }) => amount - costs.inputFee)
  const base = costs.feeOf(1, false) - costs.inputFee
  const least = pays + (base > 0n ? base : 0n)
  const changeFee = costs.feeOf(1, true) - costs.feeOf(1, false)
  const sets = [
    yield* branchAndBound(values, {
      least,
      most: least + changeFee + costs.longTermInputFee,
      inputWaste: costs.inputFee - costs.longTermInputFee
    }),
    yield* knapsack(values, least, changeFee + leastChange(costs), random)
  ]
  return sets.flatMap((indices) => {
    if (indices === undefined || indices.length > costs.maxInputs) return []
    return (
      settle(
        indices.map((index) => worth[index]!),
        pays,
        costs
      ) ?? []
    )
  })
}

const lessWaste = <C>(a: Selection<C>, b: Selection<C>): Selection<C> =>
  b.waste < a.waste || (b.waste === a.waste && b.coins.length < a.coins.length) ? b : a

/**
 * Selects coins, in steps: see `Steps`.
 *
 * @example
 * ```ts
 * import * as CoinSelection from "@headwater/core/utxo/CoinSelection"
 * import * as Steps from "@headwater/core/Steps"
 * import * as Result from "effect/Result"
 *
 * const costs: CoinSelection.Costs = {
 *   feeOf: (inputs, hasChange) => BigInt(inputs * 68 + (hasChange ? 73 : 42)),
 *   inputFee: 68n,
 *   longTermInputFee: 68n,
 *   dust: 294n,
 *   maxInputs: 1_000
 * }
 * const coins = [{ amount: 7_000n }, { amount: 50_110n }, { amount: 90_000n }]
 * const found = Steps.atOnce(
 *   CoinSelection.select({ coins, pays: 50_000n, costs, strategy: "least-waste", random: () => 0.5 })
 * )
 * Result.getOrThrow(found).fee // => 110n
 * ```
 */
export function* select<C extends { readonly amount: bigint }>(
  request: Request<C>
): Generator<void, Result.Result<Selection<C>, BalanceTooLow | TooManyInputs>> {
  const { coins, costs, pays, strategy } = request
  const largest = [...coins].sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
  const isWorth = ({ amount }: C) => amount > costs.inputFee
  const worth = largest.filter(isWorth)
  // No other coins are as few.
  const fewest = accumulate(largest, pays, costs)
  if (fewest === undefined)
    return Result.fail(new BalanceTooLow({ fee: costs.feeOf(Math.max(1, coins.length), false) }))
  if (fewest.coins.length > costs.maxInputs) return Result.fail(new TooManyInputs({ maximum: costs.maxInputs }))
  if (strategy === "none") {
    const inOrder = accumulate(coins.filter(isWorth), pays, costs)
    return Result.succeed(inOrder === undefined || inOrder.coins.length > costs.maxInputs ? fewest : inOrder)
  }
  const selections = yield* found(request, worth)
  if (strategy === "optimize-size") {
    return Result.succeed(
      selections.filter((each) => each.coins.length === fewest.coins.length).reduce(lessWaste, fewest)
    )
  }
  const best = selections.reduce(lessWaste, fewest)
  return Result.succeed(strategy === "minimize-dust" ? withSmallCoins(best, request, worth) : best)
}
