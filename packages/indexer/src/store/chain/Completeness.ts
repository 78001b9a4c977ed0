/**
 * How much of an address is recorded: for each of three parts the first block from which on nothing is missing.
 *
 * The record of an address begins with the block after the one at which the address came to be watched, and ends where
 * nobody watches the address any more: who comes later begins anew. A part reaches further back where that was proved:
 * by a search of a node's coins, by a node's account that was never used, by logs, or by a replay.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { forEachChunk, inChunks } from "../database/Statements.ts"
import * as KnownCoins from "./KnownCoins.ts"
import { isMatched } from "./MatchedSubscriptions.ts"
import type { Undone } from "./Projection.ts"
import * as RecordGaps from "./RecordGaps.ts"
import * as Watchers from "./Watchers.ts"

/** The parts of an address's record that can be proved further back. */
export type Part = "coins" | "tokens" | "history"

/**
 * For each part the first block from which on it is recorded; 0 is from the beginning, undefined is unknown. Coins are
 * what the address holds: on UTXO chains its unspent outputs, those from before that block too. On account chains they are
 * undefined until a node was asked whether the address was used; what the history has from before that block is whole
 * without the internal transactions that later blocks may lack. Transactions are those that name the address, also those
 * that moved nothing: an account tells of none of them, so that they begin where the address came to be watched; on UTXO
 * chains where its coins have become known, since an input of an unknown coin names nobody.
 */
export type Completeness = Readonly<Record<Part | "transactions", number | undefined>>

/** Nothing is known. */
export const unknown: Completeness = {
  coins: undefined,
  tokens: undefined,
  history: undefined,
  transactions: undefined
}

/**
 * Whether somebody watches the address of a row of the table `completeness`, called `c`. With limits: PostgreSQL would read every
 * subscription for an `exists`, and look the address up there.
 */
export const isWatched = sql<boolean>`(
  (
    select 1 from subscribed_address s where s.chain = c.chain and s.address = c.address and ${isMatched("s")} limit 1
  ) is not null
  or (select 1 from wallet_address w where w.chain = c.chain and w.address = c.address limit 1) is not null
  or (
    select 1 from synced_address a where a.chain = c.chain and a.address = c.address and a.active = 1 limit 1
  ) is not null
)`

/** Those of the addresses that anybody watches, in a transaction. */
export const watched = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const rows = yield* inChunks(addresses, (some) => query((db) => Watchers.of(db, chain, some)))
  return rows.map(({ address }) => address as AddressBytes)
})

/** What is recorded of every address, whether watched or not. */
const ofAll = (
  { ledger }: Pick<Chain.Chain, "ledger">,
  row: Pick<ChainRow.ChainRow, "all_from" | "coins_lost_from" | "parties_from">
): Completeness => {
  if (row.all_from === null) return unknown
  const coins = KnownCoins.hasAll(row) ? 0 : undefined
  // On UTXO chains those of watched addresses alone are recorded.
  const transactions = ledger === "outputs" ? undefined : Math.max(row.all_from, row.parties_from)
  return { coins, tokens: row.all_from, history: row.all_from, transactions }
}

/**
 * Begins the record of addresses that are about to be watched, in the transaction that has locked the chain's row and
 * before the rows of their watchers are there. Blocks above `since` are matched against them; null: all that will ever
 * be committed. Those of the addresses that somebody watches already.
 */
export const begin = Effect.fn("Completeness.begin")(function* (
  chain: Pick<ChainRow.ChainRow, "id" | "all_from" | "coins_lost_from">,
  addresses: ReadonlyArray<Uint8Array>,
  since: number | null
) {
  const { insertMany } = yield* Database
  const before = yield* watched(chain.id, addresses)
  const known = new Set(before.map(Bytes.key))
  const next = since === null ? null : since + 1
  const rowOf = (address: Uint8Array) => ({
    ...{ chain: chain.id, address, coins: KnownCoins.hasAll(chain) ? 0 : null },
    ...{ tokens: next, history: next, transactions: next }
  })
  // An address that is watched already may still have no row: a store of release 0.1 has none.
  yield* insertMany(
    "completeness",
    addresses.filter((address) => known.has(Bytes.key(address))).map(rowOf),
    "on conflict do nothing"
  )
  yield* insertMany(
    "completeness",
    addresses.filter((address) => !known.has(Bytes.key(address))).map(rowOf),
    `on conflict (chain, address)
     do update set coins = excluded.coins, tokens = excluded.tokens, history = excluded.history,
       transactions = excluded.transactions`
  )
  return before
})

/**
 * What is recorded of addresses, by their key; an address of which nothing is known is not among the answers. Tokens
 * begin behind the last gap of the chain's record; of coins and history the gaps have to be looked at beside.
 */
export const of = Effect.fn("Completeness.of")(function* (chain: Chain.Chain, addresses: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("chain")
      .select(["id", "all_from", "coins_lost_from", "parties_from"])
      .where("name", "=", Chain.nameOf(chain))
  )
  const found = new Map<string, Completeness>()
  if (row === undefined) return found
  const all = ofAll(chain, row)
  if (all !== unknown) for (const address of addresses) found.set(Bytes.key(address), all)
  const rows = yield* inChunks(addresses, (some) =>
    read((db) =>
      db
        .selectFrom("completeness as c")
        .select(["c.address", "c.coins", "c.tokens", "c.history", "c.transactions"])
        .where("c.chain", "=", row.id)
        .where("c.address", "in", some)
        .where(isWatched)
    )
  )
  const earlier = (a: number | undefined, b: number | null) =>
    a === undefined ? (b ?? undefined) : Math.min(a, b ?? a)
  for (const { address, coins, history, tokens, transactions } of rows) {
    const isUnknown = chain.ledger === "outputs" && coins === null
    found.set(Bytes.key(address), {
      coins: earlier(all.coins, coins),
      tokens: earlier(all.tokens, tokens),
      history: earlier(all.history, history),
      transactions: earlier(all.transactions, isUnknown ? null : transactions)
    })
  }
  const { token: gapEnd } = yield* RecordGaps.wholeFrom(chain)
  for (const [key, one] of found) {
    if (one.tokens !== undefined && one.tokens < gapEnd) found.set(key, { ...one, tokens: gapEnd })
  }
  return found
})

/**
 * The block from which on every use of all of these addresses is known, which are watched; undefined before the first block. On
 * UTXO chains not before their coins were: the spending of an unknown coin names nobody.
 */
export const usesFrom = Effect.fn("Completeness.usesFrom")(function* (
  { ledger }: Pick<Chain.Chain, "ledger">,
  chain: number,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { read } = yield* Database
  const rows = yield* inChunks(addresses, (some) =>
    read((db) =>
      db
        .selectFrom("completeness")
        .select(["history", "transactions"])
        .where("chain", "=", chain)
        .where("address", "in", some)
    )
  )
  return rows.reduce<number | undefined>(
    (from, { history, transactions }) =>
      from === undefined || history === null
        ? undefined
        : Math.max(from, history, (ledger === "outputs" ? transactions : null) ?? 0),
    0
  )
})

/** Notes, in a transaction that has the lock of the chain's row, that a part is recorded from `height` on. */
export const prove = Effect.fn("Completeness.prove")(function* (
  chain: number,
  part: Part,
  addresses: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { defer } = yield* Database
  yield* forEachChunk(addresses, (some) =>
    defer((db) =>
      db
        .updateTable("completeness")
        .set({ [part]: height })
        .where("chain", "=", chain)
        .where("address", "in", some)
        .where((where) => where.or([where(part, "is", null), where(part, ">", height)]))
    )
  )
})

/** Notes that the coins of addresses are about to be known, where they were not, from the block at `height` on. */
export const knowsInputsFrom = Effect.fnUntraced(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { defer } = yield* Database
  yield* forEachChunk(addresses, (some) =>
    defer((db) =>
      db
        .updateTable("completeness")
        .set({ transactions: height })
        .where("chain", "=", chain)
        .where("address", "in", some)
        .where("coins", "is", null)
    )
  )
})

/** The first block of all has been committed: that is where everything that is watched begins. */
export const beginAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .updateTable("completeness")
      .set({ tokens: height, history: height, transactions: height })
      .where("chain", "=", chain)
      .where("tokens", "is", null)
      .where("history", "is", null)
  )
})

/** Notes that every address is recorded from `height` on, where that was not so before. */
export const recordsAll = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db.updateTable("chain").set({ all_from: height }).where("id", "=", chain).where("all_from", "is", null)
  )
})

/** Notes that only watched addresses are recorded. */
export const recordsWatched = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("chain").set({ all_from: null }).where("id", "=", chain))
})

/** Notes from which block on internal transactions are recorded; null: they are not. */
export const setInternalFrom = Effect.fnUntraced(function* (chain: number, height: number | null) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("chain").set({ internal_from: height }).where("id", "=", chain))
})

/** Takes back that coins are known. */
export const forgetCoins = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db.updateTable("completeness").set({ coins: null }).where("chain", "=", chain).where("coins", "is not", null)
  )
})

/**
 * Takes back what was proved, where the blocks up to `to` are left out: the record begins anew with the block behind them.
 * What an address holds is unknown until a node is asked, or searched, once more.
 */
export const skip = Effect.fnUntraced(function* (chain: number, to: number) {
  const { defer } = yield* Database
  const next = to + 1
  for (const part of ["tokens", "history", "transactions"] as const) {
    yield* defer((db) =>
      db
        .updateTable("completeness")
        .set({ [part]: next })
        .where("chain", "=", chain)
        .where(part, "<", next)
    )
  }
  yield* forgetCoins(chain)
  for (const column of ["all_from", "internal_from"] as const) {
    yield* defer((db) =>
      db
        .updateTable("chain")
        .set({ [column]: next })
        .where("id", "=", chain)
        .where(column, "<", next)
    )
  }
})

/**
 * Takes back what was proved in blocks above `fork`. Those blocks come again, matched against all that is watched; but
 * outputs that were spent in them before the search of a node's coins were never seen, and those that are forgotten do
 * not come back. An account that was unused after one of them was unused at the fork as well.
 */
export const undo = Effect.fnUntraced(function* (
  { ledger }: Chain.Chain,
  chain: number,
  { fork, losesCoins }: Pick<Undone, "fork" | "losesCoins">
) {
  const { defer } = yield* Database
  const next = fork + 1
  const atMost = (part: Part) =>
    sql<number | null>`case when ${sql.ref(part)} > ${next} then ${next} else ${sql.ref(part)} end`
  const coins = ledger === "outputs" ? null : sql<number | null>`case when history = 0 then ${sql.lit(next)} end`
  yield* defer((db) =>
    db
      .updateTable("completeness")
      .set({ tokens: atMost("tokens"), history: atMost("history") })
      .where("chain", "=", chain)
      .where("history", ">", next)
  )
  yield* defer((db) =>
    db
      .updateTable("completeness")
      .set({ transactions: next })
      .where("chain", "=", chain)
      .where("transactions", ">", next)
  )
  yield* defer((db) =>
    db
      .updateTable("completeness")
      .set({ coins })
      .where("chain", "=", chain)
      .where("coins", ">", losesCoins ? -1 : next)
  )
  for (const column of ["all_from", "internal_from"] as const) {
    yield* defer((db) =>
      db
        .updateTable("chain")
        .set({ [column]: next })
        .where("id", "=", chain)
        .where(column, ">", losesCoins && column === "all_from" ? -1 : next)
    )
  }
  yield* defer((db) =>
    db.updateTable("chain").set({ parties_from: next }).where("id", "=", chain).where("parties_from", ">", next)
  )
})
