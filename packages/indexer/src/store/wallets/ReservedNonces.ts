/**
 * The nonces and sequences that an account's prepared transactions use: each is the sender's next one that no other
 * preparation of the account has taken for a while. Kept beside the reserved coins: the sender stands for the transaction that
 * made a coin, the nonce for its output. Once a transaction is broadcast it has its nonce itself, for as long as it may be
 * mined, whether or not the nodes that are asked have seen it; one that nodes refuse or drop has none.
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
}

/** In the transaction that takes note of a broadcast: what its preparation had reserved is the broadcast's. */
export const supersede = Effect.fnUntraced(function* (account: number, chain: number, { number, sender }: Numbered) {
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

/** Nonces of a sender from `next` on that transactions have which the account has broadcast, and which may be mined or are. */
const broadcast = Effect.fnUntraced(function* (account: number, chain: number, sender: AddressBytes, next: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .selectFrom("broadcast")
      .select("nonce")
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("sender", "=", sender)
      .where("nonce", ">=", next)
      .where((where) => where.or([where("outcome", "in", ["unknown", "sent"]), where("height", "is not", null)]))
  )
  return rows.map(({ nonce }) => nonce!)
})

/** Nonces of a sender that are reserved at the same time; nodes hold hardly more transactions of one sender. */
export const maxReserved = 64

export const make = Effect.fnUntraced(function* (chain: Chain) {
  const database = yield* Database
  const { query, transaction } = database

  /** The first free nonce, if it is still free: undefined where another preparation was faster, or too many are reserved. */
  const take = Effect.fnUntraced(function* (account: number, sender: AddressBytes, next: number, until: number) {
    const { id } = (yield* ChainRow.present(chain))!
    const now = yield* Clock.currentTimeMillis
    const reserved = yield* query((db) =>
      db
        .selectFrom("reserved_coin")
        .select("number")
        .where("account", "=", account)
        .where("chain", "=", id)
        .where("source", "=", sender)
        .where("number", ">=", next)
        .where(Reservations.holds(sql.ref("until"), now))
        .orderBy("number")
        .limit(maxReserved)
    )
    if (reserved.length === maxReserved) return "full" as const
    // Behind the reservations: what became a broadcast in between is in one of both.
    const used = yield* broadcast(account, id, sender, next)
    const taken = new Set([...reserved.map(({ number }) => number), ...used])
    let nonce = next
    while (taken.has(nonce)) nonce++
    const rows = yield* query((db) =>
      db
        .insertInto("reserved_coin")
        .values({ account, chain: id, source: sender, number: nonce, until })
        .onConflict((on) =>
          on
            .columns(["account", "chain", "source", "number"])
            .doUpdateSet({ until })
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
   * whatever process, each gets its own. `full` where {@link maxReserved} are.
   */
  const reserve = Effect.fn("ReservedNonces.reserve")(
    function* (account: number, sender: AddressBytes, next: number, millis: number) {
      const until = (yield* Clock.currentTimeMillis) + millis
      for (;;) {
        const taken = yield* transaction(take(account, sender, next, until))
        if (taken !== undefined) return taken
      }
    },
    Effect.provideService(Database, database)
  )

  return { reserve }
})

export type ReservedNonces = Effect.Success<ReturnType<typeof make>>
