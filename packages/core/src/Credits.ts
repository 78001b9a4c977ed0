/**
 * Credits: what each operation costs (interface section 8), what a day costs, and the arithmetic of a balance.
 *
 * Credits are whole numbers. A balance never goes below zero: what it cannot pay for is not done.
 */
import type { Chain } from "./chains/Chain.ts"

/** Credits for one result: the chain's own figure, else the default. */
type PriceColumn = { readonly default: number } & Readonly<Record<string, number>>

/** The price tables of interface section 8, and the operations beside it that cost something. */
export const prices = {
  "subscription-create": { default: 30 },
  "subscription-activate": { default: 30 },
  "subscription-list": { default: 30 },
  "subscription-get": { default: 30 },
  asset: { default: 110 },
  "xrp-block-transactions": { default: 20 },
  "tokens-transfers": { default: 100 },
  "xrp-derive": { default: 35 },
  "xrp-assets": { default: 120 },
  prepare: {
    default: 60,
    ethereum: 60,
    "ethereum-classic": 78,
    "binance-smart-chain": 150,
    polygon: 120,
    arbitrum: 96,
    avalanche: 108,
    base: 72,
    optimism: 84,
    tron: 90
  },
  "internal-transactions": {
    default: 320,
    ethereum: 320,
    "ethereum-classic": 416,
    "binance-smart-chain": 800,
    polygon: 640,
    arbitrum: 512,
    avalanche: 576,
    base: 384,
    optimism: 448,
    tron: 480
  },
  "evm-assets": { default: 220, ethereum: 220, "ethereum-classic": 286, "binance-smart-chain": 550, tron: 330 },
  "evm-logs": {
    default: 30,
    ethereum: 30,
    "ethereum-classic": 39,
    "binance-smart-chain": 75,
    polygon: 60,
    arbitrum: 48,
    avalanche: 54,
    base: 36,
    optimism: 42,
    tron: 45
  },
  "utxo-last-block": {
    default: 20,
    bitcoin: 20,
    "bitcoin-cash": 24,
    dash: 22,
    dogecoin: 22,
    litecoin: 22,
    zcash: 26
  },
  "utxo-derive": { default: 35, bitcoin: 35, "bitcoin-cash": 42, dash: 39, dogecoin: 39, litecoin: 39, zcash: 46 },
  "utxo-assets": {
    default: 520,
    bitcoin: 520,
    "bitcoin-cash": 624,
    dash: 572,
    dogecoin: 572,
    litecoin: 572,
    zcash: 676
  }
} as const satisfies Record<string, PriceColumn>

/** An operation that costs credits. */
export type Operation = keyof typeof prices

/** Credits for one result of an operation, on a chain where the operation is on one. */
export const price = (operation: Operation, blockchain?: string): number => {
  const column: PriceColumn = prices[operation]
  return blockchain !== undefined && Object.hasOwn(column, blockchain) ? column[blockchain]! : column.default
}

/** What an operator can decide of the charges. */
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

/** A charge on a chain: multipliers have one decimal, and what is not whole is rounded. */
export const onChain = (credits: number, { creditMultiplier }: Chain): number => Math.round(credits * creditMultiplier)

/** Credits of one call with so many results; a list without items costs one result. */
export const ofCall = ({ per }: Pick<Rules, "per">, perResult: number, results: number): number =>
  perResult * (per === "request" ? 1 : Math.max(1, results))

/** What paying does to a balance: what was asked for, and whether it could be paid. */
export interface Settled {
  readonly balance: number
  readonly paid: ReadonlyArray<boolean>
}

/** Pays amounts one after another out of a balance; one that is too large is left out, and those after it have a chance. */
export const settle = (balance: number, amounts: ReadonlyArray<number>): Settled => {
  let left = balance
  const paid = amounts.map((amount) => {
    if (amount > left) return false
    left -= amount
    return true
  })
  return { balance: left, paid }
}

/** How many of `wanted` things of one price a balance pays for. */
export const affordable = (balance: number, each: number, wanted: number): number =>
  each <= 0 ? wanted : Math.min(wanted, Math.floor(balance / each))

const dayMillis = 86_400_000

/** The day of a moment, in days since the Unix epoch, UTC. */
export const dayOf = (millis: number): number => Math.floor(millis / dayMillis)

/** The end of a day, in milliseconds since the Unix epoch. */
export const endOfDay = (day: number): number => (day + 1) * dayMillis

/** A day as people write it: `2026-11-21`. */
export const dayText = (day: number): string => new Date(day * dayMillis).toISOString().slice(0, 10)

/** The days that are over and were not charged, oldest first. `charged` is the last one that was. */
export const daysToCharge = (charged: number, now: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, dayOf(now) - 1 - charged) }, (_, i) => charged + 1 + i)
