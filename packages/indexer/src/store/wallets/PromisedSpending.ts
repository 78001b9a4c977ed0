/** What an account's transactions may take of their sender that are prepared or broadcast, and that no block counts yet. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import * as Reservations from "./internal/Reservations.ts"

/** Tokens of one contract that a transaction moves from its sender, in their smallest unit. */
export interface Tokens {
  readonly contract: AddressBytes
  readonly amount: bigint
}

/** In the coin's smallest unit. */
export interface Spending {
  /** The most that the transaction takes of its sender. */
  readonly cost: bigint
  /** Whether others leave it that much once it has its number. */
  readonly keepsCost: boolean
  /** What the sender has for it, and for what else is promised from the next number on. */
  readonly available: bigint
  /** Numbers behind the next one that transactions have which wait at the node: their costs are taken off already. */
  readonly waiting?: ReadonlyArray<number>
  /** `available`: the tokens that the sender has for it, and for what else is promised from the number `from` on. */
  readonly tokens?: (Tokens & { readonly available: bigint; readonly from: number }) | undefined
}

/** Nonces of a sender that are reserved at the same time; nodes hold hardly more transactions of one sender. */
export const maxReserved = 64

/** Those of a sender from `first` on that the account has broadcast, and that may be mined or are. */
const broadcast = Effect.fnUntraced(function* (account: number, chain: number, sender: AddressBytes, first: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("broadcast")
      .select(["nonce as number", "cost", "token", "token_amount"])
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("sender", "=", sender)
      .where("nonce", ">=", first)
      .where((where) => where.or([where("outcome", "in", ["unknown", "sent"]), where("height", "is not", null)]))
  )
})

/** What a transaction may take: coins, and tokens of the contract that is asked about. */
interface Taking {
  readonly cost: bigint
  readonly tokens: bigint
}

const nothing: Taking = { cost: 0n, tokens: 0n }

/**
 * What the transactions may take that an account has prepared or broadcast, by their nonces: coins of those from `next` on,
 * and tokens of the contract from where its balance does not count them.
 */
export const takingsOf = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  sender: AddressBytes,
  next: number,
  { tokens, waiting = [] }: Pick<Spending, "tokens" | "waiting">
) {
  const { read } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const first = Math.min(next, tokens?.from ?? next)
  const reserved = yield* read((db) =>
    db
      .selectFrom("reserved_coin")
      .select(["number", "cost", "token", "token_amount"])
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("source", "=", sender)
      .where("number", ">=", first)
      .where(Reservations.holds(sql.ref("until"), now))
  )
  // Behind the reservations: what became a broadcast in between is in one of both.
  const sent = yield* broadcast(account, chain, sender, first)
  const takings = new Map<number, Taking>()
  for (const { cost, number, token, token_amount } of [...reserved, ...sent]) {
    const known = takings.get(number!) ?? nothing
    const isAsked = tokens !== undefined && token !== null && Bytes.equal(token, tokens.contract)
    // One of several with the same nonce is mined.
    takings.set(number!, {
      cost: number! < next ? 0n : Amount.larger(known.cost, BigInt(cost ?? 0)),
      tokens: isAsked ? Amount.larger(known.tokens, BigInt(token_amount!)) : known.tokens
    })
  }
  for (const nonce of waiting) if (nonce >= next) takings.set(nonce, nothing)
  return { takings, isFull: reserved.filter(({ number }) => number >= next).length >= maxReserved }
})

/** What other transactions may take together, and the nonces of those that take it. */
export interface Promised extends Taking {
  readonly nonces: Readonly<Record<keyof Taking, ReadonlyArray<number>>>
}

/** What the transactions may take together. */
export const together = (takings: ReadonlyMap<number, Taking>): Promised => {
  let { cost, tokens } = nothing
  const nonces: Record<keyof Taking, Array<number>> = { cost: [], tokens: [] }
  for (const [nonce, taking] of [...takings].sort(([a], [b]) => a - b)) {
    cost += taking.cost
    tokens += taking.tokens
    if (taking.cost > 0n) nonces.cost.push(nonce)
    if (taking.tokens > 0n) nonces.tokens.push(nonce)
  }
  return { cost, tokens, nonces }
}

/** Of what others may take too much; where they take nothing, the caller has decided what is payable. */
export const shortOf = (
  promised: Promised,
  { available, cost, tokens }: Pick<Spending, "available" | "cost" | "tokens">
): keyof Taking | undefined => {
  if (promised.cost > 0n && promised.cost + cost > available) return "cost"
  const isShort = tokens !== undefined && promised.tokens > 0n && promised.tokens + tokens.amount > tokens.available
  return isShort ? "tokens" : undefined
}
