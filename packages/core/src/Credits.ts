/**
 * Credits: the price of each operation (interface section 8), the daily charges, and the arithmetic of a balance.
 *
 * Credits are whole numbers. A balance never goes below zero: an operation that costs more is refused.
 */
import type { ListedOperation } from "./chains/Blockchain.ts"
import { blockchains } from "./chains/blockchains.ts"
import type { Chain } from "./chains/Chain.ts"

/** Credits for one result by Default: interface section 8, and the operations beside it that cost something. */
const defaults = {
  "subscription-create": 30,
  "subscription-activate": 30,
  "subscription-list": 30,
  "subscription-get": 30,
  asset: 110,
  "asset-list": 20,
  "exchange-rate": 270,
  "address-form": 10,
  fees: 30,
  "next-nonce": 20,
  "evm-balance": 30,
  "xrp-balance": 20,
  "token-details": 90,
  simulate: 110,
  "xrp-block-transactions": 20,
  "tokens-transfers": 100,
  "xrp-derive": 35,
  "xrp-assets": 120,
  prepare: 60,
  broadcast: 60,
  "internal-transactions": 320,
  "evm-assets": 220,
  "evm-logs": 30,
  "evm-block": 30,
  "evm-transaction": 30,
  "transaction-tokens": 110,
  "xrp-transaction": 20,
  "utxo-address-latest": 110,
  "utxo-address-history": 130,
  "utxo-address-coins": 530,
  "utxo-balance": 510,
  "evm-address-latest": 120,
  "evm-address-history": 130,
  "evm-address-internal": 330,
  "evm-address-since": 230,
  "evm-derive": 35,
  "xrp-address-transactions": 110,
  "utxo-transaction": 20,
  "utxo-last-block": 20,
  "utxo-derive": 35,
  "utxo-assets": 520,
  "utxo-prepare": 520
} as const satisfies Record<ListedOperation, number> & Record<string, number>

/** An operation that costs credits. */
export type Operation = keyof typeof defaults

/** A charge on a chain: multipliers have one decimal, and the product is rounded. */
export const onChain = (credits: number, { creditMultiplier }: Pick<Chain, "creditMultiplier">): number =>
  Math.round(credits * creditMultiplier)

/** Credits for one result: the figure of each blockchain that the interface's table lists, else the default. */
type PriceColumn = { readonly default: number } & Readonly<Record<string, number>>

/** Operations that cost more on a chain with a multiplier, whichever that is (wider interface, *Credits*). */
const multiplied: ReadonlySet<string> = new Set<Operation>([
  ...(["fees", "next-nonce", "simulate", "evm-balance", "token-details"] as const),
  ...(["evm-block", "evm-transaction", "transaction-tokens", "utxo-transaction"] as const),
  ...(["utxo-address-latest", "utxo-address-history", "utxo-address-coins", "utxo-balance"] as const),
  ...(["evm-address-latest", "evm-address-history", "evm-address-internal", "evm-address-since"] as const),
  "evm-derive"
])

const column = (operation: Operation, byDefault: number): PriceColumn => {
  const listed = blockchains.filter(
    ({ listedPrices }) => multiplied.has(operation) || listedPrices.some((each) => each === operation)
  )
  return {
    default: byDefault,
    ...Object.fromEntries(listed.map((blockchain) => [blockchain.name, onChain(byDefault, blockchain)]))
  }
}

/** The price of each operation, by default and on the blockchains that have a price of their own. */
export const prices = Object.fromEntries(
  Object.entries(defaults).map(([operation, byDefault]) => [operation, column(operation as Operation, byDefault)])
) as Readonly<Record<Operation, PriceColumn>>

/**
 * Credits for one result of an operation, on a chain where the operation is on one.
 *
 * @example
 * ```ts
 * import * as Credits from "@headwater/core/Credits"
 *
 * Credits.price("prepare", "polygon") // => 120
 * Credits.price("evm-assets", "polygon") // => 220
 * ```
 */
export const price = (operation: Operation, blockchain?: string): number => {
  const figures = prices[operation]
  return blockchain !== undefined && Object.hasOwn(figures, blockchain) ? figures[blockchain]! : figures.default
}

/** The charges that an operator can set. */
export interface Rules {
  /** Whether a list costs as many results as it has items, or one. */
  readonly per: "result" | "request"
  /** Credits a day for each active subscription, before the chain's multiplier. */
  readonly subscriptionDay: number
  /** Credits a day for each synced address, before the chain's multiplier. */
  readonly addressDay: number
  /** Credits for each callback that was sent, before the chain's multiplier. */
  readonly callback: number
}

export const defaultRules: Rules = { per: "result", subscriptionDay: 200, addressDay: 200, callback: 50 }

/** Credits of one call with so many results; a list without items costs one result. */
export const ofCall = ({ per }: Pick<Rules, "per">, perResult: number, results: number): number =>
  perResult * (per === "request" ? 1 : Math.max(1, results))

/** A balance after payments, and for each amount whether the balance paid it. */
export interface Settled {
  readonly balance: number
  readonly paid: ReadonlyArray<boolean>
}

/**
 * Pays amounts one after another out of a balance; an amount above the rest is skipped, and the next ones are tried.
 *
 * @example
 * ```ts
 * import * as Credits from "@headwater/core/Credits"
 *
 * Credits.settle(100, [60, 50, 40]) // => { balance: 0, paid: [true, false, true] }
 * ```
 */
export const settle = (balance: number, amounts: ReadonlyArray<number>): Settled => {
  let left = balance
  const paid = amounts.map((amount) => {
    if (amount > left) return false
    left -= amount
    return true
  })
  return { balance: left, paid }
}

/** The number of things, at most `wanted`, that a balance pays for at the price `each`. */
export const affordable = (balance: number, each: number, wanted: number): number =>
  each <= 0 ? wanted : Math.min(wanted, Math.floor(balance / each))

const dayMillis = 86_400_000

/** The day of a moment, in days since the Unix epoch, UTC. */
export const dayOf = (millis: number): number => Math.floor(millis / dayMillis)

/** The end of a day, in milliseconds since the Unix epoch. */
export const endOfDay = (day: number): number => (day + 1) * dayMillis

/** A day as people write it: `2026-11-21`. */
export const dayText = (day: number): string => new Date(day * dayMillis).toISOString().slice(0, 10)

/**
 * The days that are over and not yet charged, oldest first. `charged` is the last charged day.
 *
 * @example
 * ```ts
 * import * as Credits from "@headwater/core/Credits"
 *
 * const now = Date.UTC(2026, 10, 21, 12)
 * const charged = Credits.dayOf(Date.UTC(2026, 10, 18))
 * Credits.daysToCharge(charged, now).map(Credits.dayText) // => ["2026-11-19", "2026-11-20"]
 * ```
 */
export const daysToCharge = (charged: number, now: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, dayOf(now) - 1 - charged) }, (_, i) => charged + 1 + i)
