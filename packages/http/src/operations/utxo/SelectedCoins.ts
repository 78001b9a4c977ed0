/**
 * The coins that a transaction spends, selected of a wallet's free ones until the node says of all of them that they can be
 * spent; or why there are none.
 */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf as outpointKey } from "@headwater/core/utxo/Coin"
import * as CoinSelection from "@headwater/core/utxo/CoinSelection"
import type { CoinState } from "@headwater/indexer/families/utxo/UtxoPreparation"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { WalletCoin } from "@headwater/indexer/store/wallets/SpendableCoins"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { conflictingField } from "../../contract/Errors.ts"
import type { WaitingParent } from "./WaitingParent.ts"

export const total = (from: ReadonlyArray<{ readonly amount: bigint }>) =>
  from.reduce((sum, { amount }) => sum + amount, 0n)

const isUsable = (state: CoinState | undefined) => state === undefined || state === "spendable"

/** Coins that the node is asked about beside the selected ones, once one of those is not spendable or there are too few. */
const askedBeside = 500

/** Why coins that a wallet has cannot be used now, in words. */
const reasons: Record<Exclude<CoinState, "spendable">, string> = {
  spent: "is being spent by transactions that wait for a block",
  immature: "is the reward of blocks and too young",
  peggedOut: "has come out of MWEB less than six blocks ago",
  token: "carries tokens"
}

const words = (chain: Chain, unused: ReadonlyMap<WalletCoin, CoinState>) =>
  Object.entries(reasons).flatMap(([state, reason]) => {
    const those = [...unused].flatMap(([coin, its]) => (its === state ? coin : []))
    return those.length === 0 ? [] : [`${Amount.withUnit(chain, total(those))} ${reason}`]
  })

/** What is to be paid, and by which rules; the same however often coins are selected. */
export interface Plan {
  readonly chain: Chain
  readonly costs: CoinSelection.Costs
  readonly pays: bigint
  readonly strategy: CoinSelection.Strategy
  /** Spent in any case, before all others. */
  readonly parent: WaitingParent | undefined
}

/** Coins beside the one of a waiting parent, if there is one, whose fees are the transaction's then. */
function* selected(
  { costs, parent, pays, strategy }: Plan,
  free: ReadonlyArray<WalletCoin>,
  random: () => number
): ReturnType<typeof CoinSelection.select<WalletCoin>> {
  if (parent === undefined) return yield* CoinSelection.select({ coins: free, costs, pays, strategy, random })
  const left = pays - parent.coin.amount
  const others: CoinSelection.Costs = {
    ...costs,
    feeOf: (inputs, hasChange) => costs.feeOf(inputs + 1, hasChange) + parent.extraFee,
    maxInputs: Math.max(0, costs.maxInputs - 1)
  }
  const alone = CoinSelection.settle<WalletCoin>([], left, others)
  if (alone !== undefined) return Result.succeed(alone)
  return yield* CoinSelection.select({ coins: free, costs: others, pays: left, strategy, random })
}

/** No coins that are free do: why. */
const refusalOf = (
  { chain, parent, pays }: Plan,
  { fee }: CoinSelection.BalanceTooLow,
  confirmed: ReadonlyArray<WalletCoin>,
  reserved: ReadonlyArray<WalletCoin>,
  unused: ReadonlyMap<WalletCoin, CoinState>
) => {
  const free = parent === undefined ? confirmed : [...confirmed, parent.coin]
  const need = `${Amount.withUnit(chain, pays + fee)}, ${Amount.withUnit(chain, fee)} of it as fee`
  if (total([...free, ...reserved]) >= pays + fee) {
    const ends = reserved.map(({ reservedUntil }) => reservedUntil!).sort((a, b) => a - b)
    const [first, last] = [ends[0]!, ends.at(-1)!].map((millis) => new Date(millis).toISOString())
    return conflictingField(
      "recipients",
      `the payment needs ${need}; of the wallet's balance ${Amount.withUnit(chain, total(reserved))} is reserved by transactions that ` +
        `were prepared before, the first of it until ${first}, the last until ${last}`
    )
  }
  const others = words(chain, unused)
  return conflictingField(
    "recipients",
    `the wallet has ${Amount.withUnit(chain, total(free))} to spend, and the payment needs ${need}` +
      (others.length === 0 ? "" : `; beside that ${others.join(", ")}`)
  )
}

/** Selects among the wallet's free coins until all that are selected are spendable by the node's word. */
export const select = Effect.fnUntraced(function* (
  plan: Plan,
  { preparation }: UtxoConnection,
  all: ReadonlyArray<WalletCoin>
) {
  const states = new Map<string, CoinState>()
  const stateOf = ({ outpoint }: WalletCoin) => states.get(outpointKey(outpoint))
  const { parent } = plan
  const isParent = ({ outpoint }: WalletCoin) =>
    parent !== undefined && outpointKey(outpoint) === outpointKey(parent.coin.outpoint)
  const open = all.filter((coin) => coin.reservedUntil === undefined && !isParent(coin))
  const random = yield* Random.Random
  const ask = Effect.fnUntraced(function* (some: ReadonlyArray<WalletCoin>) {
    const answers = yield* preparation.statesOf(some)
    for (const [i, { outpoint }] of some.entries()) states.set(outpointKey(outpoint), answers[i]!)
  })
  const unknown = (some: ReadonlyArray<WalletCoin>) => some.filter((coin) => stateOf(coin) === undefined)
  for (;;) {
    const free = open.filter((coin) => isUsable(stateOf(coin)))
    const found = yield* TimeSlice.run(() => selected(plan, free, () => random.nextDoubleUnsafe()))
    const needed = Result.isSuccess(found) ? unknown(found.success.coins) : []
    if (Result.isSuccess(found) && needed.length === 0) return found.success
    const others = unknown(free)
    if (Result.isSuccess(found) || (others.length > 0 && others.length <= askedBeside)) {
      // A coin that is not spendable is seldom alone.
      const beside = states.size === 0 && Result.isSuccess(found) ? [] : others.slice(0, askedBeside)
      yield* ask([...new Set([...needed, ...beside])])
      continue
    }
    if (found.failure._tag === "TooManyInputs") {
      const beside = parent === undefined ? "" : " beside the waiting one"
      return yield* conflictingField(
        "recipients",
        `the payment needs more than ${found.failure.maximum} coins of the wallet${beside}, and nodes relay no such transaction: ` +
          "pay less"
      )
    }
    const unused = new Map(open.flatMap((coin) => (isUsable(stateOf(coin)) ? [] : [[coin, stateOf(coin)!] as const])))
    const reserved = all.filter(({ reservedUntil }) => reservedUntil !== undefined)
    return yield* refusalOf(plan, found.failure, free, reserved, unused)
  }
})
