/**
 * The nonces and sequences that an account's prepared transactions use: each is the sender's next one that no other
 * preparation of the account has taken for a while. Kept beside the reserved coins: the sender stands for the transaction that
 * made a coin, the nonce for its output. Once a transaction is broadcast it has its nonce itself, for as long as it may be
 * mined, whether or not the nodes that are asked have seen it; one that nodes refuse or drop has none. With each nonce of a
 * broadcast, and of a preparation that asks for that, stands what the transaction may cost, and the tokens that it moves: the
 * account's others from this sender leave it that much.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as Reservations from "./internal/Reservations.ts"
import { maxReserved, shortOf, type Spending, takingsOf, type Tokens, together } from "./PromisedSpending.ts"

/** A transaction's place in the row of its sender's transactions: a nonce, or a sequence. */
export interface Numbered {
  readonly sender: AddressBytes
  readonly number: number
  /** The most that it takes of its sender, in the coin's smallest unit. */
  readonly cost: bigint
  readonly tokens?: Tokens | undefined
}

/** Tokens, as the rows of reservations and broadcasts have them. */
export const tokenColumns = (tokens: Tokens | undefined) => ({
  token: tokens?.contract ?? null,
  token_amount: tokens === undefined ? null : String(tokens.amount)
})

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

/** What stands with a number that is kept until then. */
const keptFor = (until: number, { cost, keepsCost, tokens }: Spending) => ({
  ...{ until, cost: keepsCost ? String(cost) : "0" },
  ...tokenColumns(keepsCost ? tokens : undefined)
})

export const make = Effect.fnUntraced(function* (chain: Chain) {
  const database = yield* Database
  const { lockRows, query, read, transaction } = database

  /** In a transaction: others that would keep a number of the sender wait, unless none is kept. */
  const lockKept = Effect.fnUntraced(function* (account: number, id: number, sender: AddressBytes) {
    const now = yield* Clock.currentTimeMillis
    yield* lockRows((db) =>
      db
        .selectFrom("reserved_coin")
        .select("number")
        .where("account", "=", account)
        .where("chain", "=", id)
        .where("source", "=", sender)
        .where(Reservations.holds(sql.ref("until"), now))
        .orderBy("number")
    )
  })

  /** The first free nonce, if it is still free: undefined where another preparation was faster. */
  const take = Effect.fnUntraced(function* (
    account: number,
    sender: AddressBytes,
    next: number,
    until: number,
    spending: Spending
  ) {
    const { id } = (yield* ChainRow.present(chain))!
    yield* lockKept(account, id, sender)
    const { isFull, takings } = yield* takingsOf(account, id, sender, next, spending)
    if (isFull) return "full" as const
    const promised = together(takings)
    if (shortOf(promised, spending) !== undefined) return { promised }
    let nonce = next
    while (takings.has(nonce)) nonce++
    const now = yield* Clock.currentTimeMillis
    const kept = keptFor(until, spending)
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
   * whatever process, each gets its own. `full` where {@link maxReserved} are; `promised` alone where what the others may take
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

  /** What the others may take from `next` on, beside the one with this nonce, that the account has prepared or broadcast. */
  const promisedBeside = Effect.fn("ReservedNonces.promisedBeside")(
    function* (
      account: number,
      sender: AddressBytes,
      next: number,
      nonce: number,
      spending: Pick<Spending, "tokens" | "waiting"> = {}
    ) {
      const row = yield* ChainRow.find(chain)
      if (row === undefined) return together(new Map())
      const { takings } = yield* takingsOf(account, row.id, sender, next, spending)
      takings.delete(nonce)
      return together(takings)
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

  /** In a transaction: as {@link takeOver}. */
  const replace = Effect.fnUntraced(function* (
    account: number,
    sender: AddressBytes,
    { next, nonce }: { readonly next: number; readonly nonce: number },
    until: number,
    spending: Spending
  ) {
    const row = yield* ChainRow.find(chain)
    if (row === undefined) return { until: undefined }
    yield* lockKept(account, row.id, sender)
    const promised = yield* promisedBeside(account, sender, next, nonce, spending)
    if (shortOf(promised, spending) !== undefined) return { promised }
    const now = yield* Clock.currentTimeMillis
    const [kept] = yield* query((db) =>
      db
        .updateTable("reserved_coin")
        .set(keptFor(until, spending))
        .where("account", "=", account)
        .where("chain", "=", row.id)
        .where("source", "=", sender)
        .where("number", "=", nonce)
        .where(Reservations.holds(sql.ref("until"), now))
        .returning("until")
    )
    return { until: kept?.until }
  })

  /**
   * Keeps a nonce that is kept already for another transaction in the place of that one, with what it may take, from now on for so
   * long. The answer is the end, undefined where the nonce is not kept; `promised` alone where what the others may take leaves
   * too little: of two at once, in whatever process, the second one counts the first.
   */
  const takeOver = Effect.fn("ReservedNonces.takeOver")(
    function* (
      account: number,
      sender: AddressBytes,
      place: { readonly next: number; readonly nonce: number },
      millis: number,
      spending: Spending
    ) {
      const until = (yield* Clock.currentTimeMillis) + millis
      return yield* transaction(replace(account, sender, place, until, spending))
    },
    Effect.provideService(Database, database)
  )

  return { reserve, takeOver, promisedBeside, sentWith }
})

export type ReservedNonces = Effect.Success<ReturnType<typeof make>>
