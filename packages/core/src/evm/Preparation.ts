/**
 * Gas prices of a transfer of native coins on an EVM chain, and whether the sender can pay: the pure part of preparing
 * the transfer. {@link Sighash} has the bytes to sign.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Amount from "../Amount.ts"
import type { Chain } from "../chains/Chain.ts"
import type { EvmRules } from "./EvmFamily.ts"
import type { UnsignedTransaction } from "./UnsignedTransaction.ts"

/** The forms of a transaction as the interface names them: types 0, 1 (EIP-2930) and 2 (EIP-1559). */
export type TransactionType = "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"

export type Priority = "slow" | "standard" | "fast"

const priorities: ReadonlyArray<Priority> = ["slow", "standard", "fast"]

/** Percentiles of recently paid tips that the priorities stand for, in the order slow, standard, fast. */
export const percentiles = [10, 50, 90] as const

/** Forms that a chain has, the usual one first. */
export const typesOf = ({ accessLists, feeMarket }: EvmRules): ReadonlyArray<TransactionType> => [
  ...(feeMarket ? (["gas-fee-market-transaction"] as const) : []),
  "legacy-transaction",
  ...(accessLists ? (["access-list-transaction"] as const) : [])
]

/** Prices of gas at the moment, in Wei. */
export interface Market {
  /** Of the next block; undefined where the chain has none. */
  readonly baseFee: bigint | undefined
  /** Beyond the base fee, at {@link percentiles}. */
  readonly tips: ReadonlyArray<bigint>
  /** The node's suggestions, for chains whose recent blocks show no tips. */
  readonly suggestedPrice: bigint
  readonly suggestedTip: bigint | undefined
  /** With a lower one nodes take no transaction; absent where they take any. */
  readonly leastTip?: bigint | undefined
}

/** The price that a transaction offers for one gas, in Wei. */
export interface FeeQuote {
  /** The most that one gas can cost. */
  readonly cap: bigint
  /** The part for the producer of the block; as large as `cap` where the whole price is paid. */
  readonly tip: bigint
}

/** No transaction may have a higher gas limit (EIP-7825). */
const mostGas = 2n ** 24n

/**
 * A node's estimate and 30 %, which is what Foundry adds (`--gas-estimate-multiplier 130`): what a contract takes, and Arbitrum's
 * part for the layer below, which is gas there, may be more by the time a block takes the transaction. Gas that is not used is
 * not paid.
 *
 * @example
 * ```ts
 * import * as Preparation from "@headwater/core/evm/Preparation"
 *
 * Preparation.withMargin(50_000n) // => 65000n
 * ```
 */
export const withMargin = (estimate: bigint): bigint => {
  const padded = (estimate * 130n) / 100n
  return padded <= mostGas || estimate > mostGas ? padded : mostGas
}

/** A price after two blocks of the steepest rise, an eighth a block (EIP-1559). */
const afterTwoBlocks = (price: bigint): bigint => (price * 81n + 63n) / 64n

/**
 * What to reserve for a charge for data on the layer below, in Wei: the charge of the moment after two blocks of that layer
 * of the steepest rise, which is an eighth a block for its gas (EIP-1559) and its blobs (EIP-4844). What is not charged
 * stays with the sender.
 */
export const dataFeeReserve: (fee: bigint) => bigint = afterTwoBlocks

/** What was paid may be less than nodes take: of an offer a higher base fee leaves less. */
const tipOf = ({ leastTip = 0n, suggestedTip, tips }: Market, priority: Priority): bigint => {
  const usual = tips.some((tip) => tip > 0n) ? (tips[priorities.indexOf(priority)] ?? 0n) : (suggestedTip ?? 0n)
  return Amount.larger(usual, leastTip)
}

/** A price that is paid whole, whatever the base fee will be: the base fee {@link afterTwoBlocks}, and the tip. */
const wholePrice = (market: Market, priority: Priority): bigint => {
  const { baseFee, suggestedPrice } = market
  if (baseFee === undefined) {
    const tip = market.tips[priorities.indexOf(priority)] ?? 0n
    return tip > 0n ? tip : suggestedPrice
  }
  const price = afterTwoBlocks(baseFee) + tipOf(market, priority)
  return price > 0n ? price : suggestedPrice
}

/**
 * The price to offer. With `whole`, nothing of the price comes back: the fee is known beforehand, as a fee that is taken
 * from the amount must be. Legacy and access-list transactions always pay the whole price.
 */
export const feeQuote = (type: TransactionType, market: Market, priority: Priority, whole: boolean): FeeQuote => {
  const { baseFee } = market
  if (whole || baseFee === undefined || type !== "gas-fee-market-transaction") {
    const price = wholePrice(market, priority)
    return { cap: price, tip: price }
  }
  const tip = tipOf(market, priority)
  const cap = 2n * baseFee + tip
  if (cap === 0n) return { cap: market.suggestedPrice, tip: market.suggestedPrice }
  // Builders' own transactions pay no tip, while nodes relay none that offers less than 1 Wei (geth's `txpool.pricelimit`).
  return tip === 0n ? { cap: cap + 1n, tip: 1n } : { cap, tip }
}

/**
 * The price by which a transaction's fee is this many Wei, as far as the fee divides by the gas.
 *
 * @example
 * ```ts
 * import * as Preparation from "@headwater/core/evm/Preparation"
 *
 * Preparation.exactFeeQuote(420_000n, 21_000n) // => { cap: 20n, tip: 20n }
 * ```
 */
export const exactFeeQuote = (fee: bigint, gasLimit: bigint): FeeQuote => {
  const price = fee / gasLimit
  return { cap: price, tip: price }
}

/** A tenth more, as nodes ask of what takes another transaction's place (geth's `txpool.pricebump`). */
const tenthMore = (price: bigint): bigint => (price < 10n ? price + 1n : (price * 110n + 99n) / 100n)

/**
 * The least that nodes take in the place of a waiting transaction of this price.
 *
 * @example
 * ```ts
 * import * as Preparation from "@headwater/core/evm/Preparation"
 *
 * Preparation.outbidding({ cap: 20n, tip: 1n }) // => { cap: 22n, tip: 2n }
 * ```
 */
export const outbidding = ({ cap, tip }: FeeQuote): FeeQuote => ({ cap: tenthMore(cap), tip: tenthMore(tip) })

/** The quote, raised to another one. With `whole`, nothing of the price comes back, as {@link feeQuote} has it. */
export const raised = (quote: FeeQuote, least: FeeQuote, whole: boolean): FeeQuote => {
  const cap = Amount.larger(quote.cap, least.cap)
  return { cap, tip: whole ? cap : Amount.larger(quote.tip, least.tip) }
}

/** The transaction cannot be paid; the message names the sender's balance and the need. */
export class Unpayable extends Schema.TaggedError<Unpayable>()("Unpayable", { message: Schema.String }) {}

export interface Payment {
  /** In Wei, as the other fields. */
  readonly amount: bigint
  readonly balance: bigint
  /** Whether transactions that wait for a block have been taken from the balance. */
  readonly afterPending: boolean
  /** The most that the gas can cost. */
  readonly gasFee: bigint
  /** The chain's charge beside gas, for data on the layer below. */
  readonly dataFee: bigint
  /** Take the fees from the amount instead of paying them on top. */
  readonly fromAmount: boolean
}

/** The value to send. With `fromAmount` exactly `amount` leaves the sender, else `amount` and the fees. */
export const valueOf = (
  chain: Pick<Chain, "decimals" | "unit">,
  { afterPending, amount, balance, dataFee, fromAmount, gasFee }: Payment
): Result.Result<bigint, Unpayable> => {
  const coins = (wei: bigint) => Amount.withUnit(chain, wei)
  const fee = gasFee + dataFee
  const need = fromAmount ? amount : amount + fee
  if (balance < need) {
    const has = `the sender has ${coins(balance)}${afterPending ? " beside what its waiting transactions take" : ""}`
    const parts = fromAmount
      ? `, of which the fee takes up to ${coins(fee)}`
      : `: amount ${coins(amount)}, fee up to ${coins(fee)}`
    return Result.fail(new Unpayable({ message: `${has} and needs ${coins(need)}${parts}` }))
  }
  return fromAmount && amount < fee
    ? Result.fail(new Unpayable({ message: `the amount is ${coins(amount)} and the fee ${coins(fee)}` }))
    : Result.succeed(fromAmount ? amount - fee : amount)
}

/** Puts the parts of a transaction together. */
export const transaction = (
  type: TransactionType,
  { cap, tip }: FeeQuote,
  parts: {
    readonly chainId: bigint
    readonly nonce: bigint
    readonly gasLimit: bigint
    readonly to: Uint8Array
    readonly value: bigint
    readonly data: Uint8Array
  }
): UnsignedTransaction => {
  switch (type) {
    case "legacy-transaction":
      return { type: 0, ...parts, gasPrice: cap }
    case "access-list-transaction":
      return { type: 1, ...parts, gasPrice: cap, accessList: [] }
    case "gas-fee-market-transaction":
      return { type: 2, ...parts, maxFeePerGas: cap, maxPriorityFeePerGas: tip, accessList: [] }
  }
}
