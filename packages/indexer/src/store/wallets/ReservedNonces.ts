/**
 * The nonces and sequences that an account's prepared transactions use: each is the sender's next one that no other
 * preparation of the account has taken for a while. Kept beside the reserved coins: the sender stands for the transaction that
 * made a coin, the nonce for its output. Once a transaction is broadcast it has its nonce itself, for as long as it may be
 * mined, whether or not the nodes that are asked have seen it; one that nodes refuse or drop has none. With each nonce of a
 * broadcast, and of a preparation that asks for that, stands what the transaction may cost: the account's others from this
 * sender leave it that much.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as Reservations from "./internal/Reservations.ts"

/** A transaction's place in the row of its sender's transactions: a nonce, or a sequence. */
export interface Numbered {
  readonly sender: AddressBytes
  readonly number: number
  /** The most that it takes of its sender, in the coin's smallest unit. */
  readonly cost: bigint
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
}

/** In the transaction that takes note of a broadcast: what its preparation had reserved is the broadcast's. */
export const supersede = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  { number, sender }: Omit<Numbered, "cost">
) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("reserved_coin")
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("source", "=", sender)
      .where("number", "=", number)
  )
})

/** Those of a sender from `next` on that the account has broadcast, and that may be mined or are. */
const broadcast = Effect.fnUntraced(function* (account: number, chain: number, sender: AddressBytes, next: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("broadcast")
      .select(["nonce", "cost"])
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("sender", "=", sender)
      .where("nonce", ">=", next)
      .where((where) => where.or([where("outcome", "in", ["unknown", "sent"]), where("height", "is not", null)]))
  )
})

/** Nonces of a sender that are reserved at the same time; nodes hold hardly more transactions of one sender. */
export const maxReserved = 64

/** What the transactions with the nonces from `next` on may cost that an account has prepared or broadcast, by these nonces. */
const promises = Effect.fnUntraced(function* (
  account: number,
  chain: number,
  sender: AddressBytes,
  next: number,
  waiting: ReadonlyArray<number> = []
) {
  const { read } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const reserved = yield* read((db) =>
    db
      .selectFrom("reserved_coin")
      .select(["number", "cost"])
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("source", "=", sender)
      .where("number", ">=", next)
      .where(Reservations.holds(sql.ref("until"), now))
      .orderBy("number")
      .limit(maxReserved)
  )
  // Behind the reservations: what became a broadcast in between is in one of both.
  const sent = yield* broadcast(account, chain, sender, next)
  const costs = new Map(reserved.map(({ cost, number }) => [number, BigInt(cost)]))
  for (const { cost, nonce } of sent) {
    const own = BigInt(cost ?? 0)
    // One of several with the same nonce is mined.
    if (own >= (costs.get(nonce!) ?? 0n)) costs.set(nonce!, own)
  }
  for (const nonce of waiting) if (nonce >= next) costs.set(nonce, 0n)
  return { costs, isFull: reserved.length === maxReserved }
})

/** What other transactions may cost together, and their nonces. */
export interface Promised {
  readonly cost: bigint
  readonly nonces: ReadonlyArray<number>
}

const together = (costs: ReadonlyMap<number, bigint>): Promised => {
  let cost = 0n
  for (const each of costs.values()) cost += each
  const nonces = [...costs].flatMap(([nonce, cost]) => (cost > 0n ? nonce : []))
  return { cost, nonces: nonces.sort((a, b) => a - b) }
}

/** Whether what others may cost leaves too little; where they cost nothing, the caller has decided what is payable. */
export const leavesTooLittle = (
  promised: Promised,
  { available, cost }: Pick<Spending, "available" | "cost">
): boolean => promised.cost > 0n && promised.cost + cost > available

export const make = Effect.fnUntraced(function* (chain: Chain) {
  const database = yield* Database
  const { query, read, transaction } = database

  /** The first free nonce, if it is still free: undefined where another preparation was faster. */
  const take = Effect.fnUntraced(function* (
    account: number,
    sender: AddressBytes,
    next: number,
    until: number,
    spending: Spending
  ) {
    const { cost, keepsCost, waiting } = spending
    const { id } = (yield* ChainRow.present(chain))!
    const { costs, isFull } = yield* promises(account, id, sender, next, waiting)
    if (isFull) return "full" as const
    const promised = together(costs)
    if (leavesTooLittle(promised, spending)) return { promised }
    let nonce = next
    while (costs.has(nonce)) nonce++
    const now = yield* Clock.currentTimeMillis
    const kept = { until, cost: keepsCost ? String(cost) : "0" }
    const rows = yield* query((db) =>
      db
        .insertInto("reserved_coin")
        .values({ account, chain: id, source: sender, number: nonce, ...kept })
        .onConflict((on) =>
          on
            .columns(["account", "chain", "source", "number"])
            .doUpdateSet(kept)
            .where(Reservations.isOver(sql.ref("reserved_coin.until"), now))
        )
        .returning("number")
    )
    if (rows.length === 0) return undefined
    yield* Reservations.removeOver(now)
    return { nonce, until }
  })

  /**
   * The first nonce from `next` on that is not reserved, reserved from now on for so long: of two that ask at once, in
   * whatever process, each gets its own. `full` where {@link maxReserved} are; `promised` alone where what the others may cost
   * leaves too little.
   */
  const reserve = Effect.fn("ReservedNonces.reserve")(
    function* (account: number, sender: AddressBytes, next: number, millis: number, spending: Spending) {
      const until = (yield* Clock.currentTimeMillis) + millis
      for (;;) {
        const taken = yield* transaction(take(account, sender, next, until, spending))
        if (taken !== undefined) return taken
      }
    },
    Effect.provideService(Database, database)
  )

  /** What the others may cost from `next` on, beside the one with this nonce, that the account has prepared or broadcast. */
  const promisedBeside = Effect.fn("ReservedNonces.promisedBeside")(
    function* (
      account: number,
      sender: AddressBytes,
      next: number,
      nonce: number,
      waiting?: ReadonlyArray<number> | undefined
    ) {
      const row = yield* ChainRow.find(chain)
      if (row === undefined) return together(new Map())
      const { costs } = yield* promises(account, row.id, sender, next, waiting)
      costs.delete(nonce)
      return together(costs)
    },
    Effect.provideService(Database, database)
  )

  /** The bytes of transactions with a nonce that the account has broadcast, and that may wait for a block. */
  const sentWith = Effect.fn("ReservedNonces.sentWith")(
    function* (account: number, sender: AddressBytes, nonce: number) {
      const row = yield* ChainRow.find(chain)
      if (row === undefined) return []
      const rows = yield* read((db) =>
        db
          .selectFrom("broadcast")
          .select("raw")
          .where("account", "=", account)
          .where("chain", "=", row.id)
          .where("sender", "=", sender)
          .where("nonce", "=", nonce)
          .where("outcome", "in", ["unknown", "sent"])
      )
      return rows.map(({ raw }) => raw)
    },
    Effect.provideService(Database, database)
  )

  /**
   * Keeps a nonce that is kept already for another transaction in the place of that one, with what it costs, from now on for so
   * long. The answer is the end; undefined where the nonce is not kept.
   */
  const takeOver = Effect.fn("ReservedNonces.takeOver")(
    function* (account: number, sender: AddressBytes, nonce: number, millis: number, cost: bigint) {
      const row = yield* ChainRow.find(chain)
      if (row === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const [kept] = yield* query((db) =>
        db
          .updateTable("reserved_coin")
          .set({ until: now + millis, cost: String(cost) })
          .where("account", "=", account)
          .where("chain", "=", row.id)
          .where("source", "=", sender)
          .where("number", "=", nonce)
          .where(Reservations.holds(sql.ref("until"), now))
          .returning("until")
      )
      return kept?.until
    },
    Effect.provideService(Database, database)
  )

  return { reserve, takeOver, promisedBeside, sentWith }
})

export type ReservedNonces = Effect.Success<ReturnType<typeof make>>
