/**
 * How much of an address is recorded: for each of three parts the first block from which on nothing is missing.
 *
 * The record of an address begins with the block after the one at which the address came to be watched, and ends where
 * nobody watches the address any more: who comes later begins anew. A part reaches further back where that was proved:
 * by a search of a node's coins, by a node's account that was never used, by logs, or by a replay.
 *
 * On account chains a node that has neither nonce, balance nor code of an address at a block proves that no coin ever
 * moved before, so that the history is recorded from the beginning. Tokens come without any of the three.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Tables } from "../database/Tables.ts"
import type { Undone } from "./Projection.ts"

/** The parts of an address's record. */
export type Part = "coins" | "tokens" | "history"

/**
 * For each part the first block from which on it is recorded; 0 is from the beginning, undefined is unknown. Coins are
 * what the address holds: on UTXO chains its unspent outputs, those from before that block too. On account chains they are
 * undefined until a node was asked whether the address was used; what the history has from before that block is whole
 * without the internal transactions that later blocks may lack.
 */
export type Completeness = Readonly<Record<Part, number | undefined>>

/** Nothing is known. */
export const unknown: Completeness = { coins: undefined, tokens: undefined, history: undefined }

/** Whether somebody watches the address of a row of the table `completeness`, called `c`. */
const isWatched = sql<boolean>`(
  exists (select 1 from subscription s where s.chain = c.chain and s.address = c.address and s.active = 1)
  or exists (select 1 from wallet_address w where w.chain = c.chain and w.address = c.address)
  or exists (select 1 from synced_address a where a.chain = c.chain and a.address = c.address and a.active = 1)
)`

const watchersOf = (db: Kysely<Tables>, chain: number, addresses: ReadonlyArray<Uint8Array>) => {
  const of = (table: "subscription" | "synced_address" | "wallet_address") =>
    db
      .selectFrom(sql<{ readonly chain: number; readonly address: Uint8Array }>`${sql.table(table)}`.as("watcher"))
      .select("watcher.address")
      .where("watcher.chain", "=", chain)
      .where("watcher.address", "in", addresses)
  const isActive = sql<boolean>`watcher.active = 1`
  return of("subscription").where(isActive).union(of("wallet_address")).union(of("synced_address").where(isActive))
}

/** Those of the addresses that anybody watches, in a transaction. */
export const watched = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const rows = yield* inChunks(addresses, (some) => query((db) => watchersOf(db, chain, some)))
  return rows.map(({ address }) => address as AddressBytes)
})

/** Whether every coin there is has been recorded, whoever has it. */
export const hasAllCoins = ({ all_from }: Pick<ChainRow.ChainRow, "all_from">): boolean => all_from === 0

/** What is recorded of every address, whether watched or not. */
const ofAll = (allFrom: number | null): Completeness =>
  allFrom === null ? unknown : { coins: allFrom === 0 ? 0 : undefined, tokens: allFrom, history: allFrom }

/**
 * Begins the record of addresses that are about to be watched, in the transaction that has locked the chain's row and
 * before the rows of their watchers are there. Blocks above `since` are matched against them; null: all that will ever
 * be committed.
 */
export const begin = Effect.fn("Completeness.begin")(function* (
  chain: Pick<ChainRow.ChainRow, "id" | "all_from">,
  addresses: ReadonlyArray<Uint8Array>,
  since: number | null
) {
  const { insertMany } = yield* Database
  const known = new Set((yield* watched(chain.id, addresses)).map(Bytes.key))
  const next = since === null ? null : since + 1
  const rowOf = (address: Uint8Array) => ({
    ...{ chain: chain.id, address, coins: hasAllCoins(chain) ? 0 : null },
    ...{ tokens: next, history: next }
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
     do update set coins = excluded.coins, tokens = excluded.tokens, history = excluded.history`
  )
})

/** What is recorded of addresses, by their key; an address of which nothing is known is not among the answers. */
export const of = Effect.fn("Completeness.of")(function* (chain: Chain.Chain, addresses: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectFrom("chain").select(["id", "all_from"]).where("name", "=", Chain.nameOf(chain))
  )
  const found = new Map<string, Completeness>()
  if (row === undefined) return found
  const all = ofAll(row.all_from)
  if (all !== unknown) for (const address of addresses) found.set(Bytes.key(address), all)
  const rows = yield* inChunks(addresses, (some) =>
    read((db) =>
      db
        .selectFrom("completeness as c")
        .select(["c.address", "c.coins", "c.tokens", "c.history"])
        .where("c.chain", "=", row.id)
        .where("c.address", "in", some)
        .where(isWatched)
    )
  )
  const earlier = (a: number | undefined, b: number | null) =>
    a === undefined ? (b ?? undefined) : Math.min(a, b ?? a)
  for (const { address, coins, history, tokens } of rows) {
    found.set(Bytes.key(address), {
      coins: earlier(all.coins, coins),
      tokens: earlier(all.tokens, tokens),
      history: earlier(all.history, history)
    })
  }
  return found
})

/** Those of the addresses, by their key, of which every output that `height` may spend is recorded; in a transaction. */
export const withCoins = Effect.fnUntraced(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { query } = yield* Database
  const rows = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("completeness")
        .select("address")
        .where("chain", "=", chain)
        .where("address", "in", some)
        .where("coins", "<=", height)
    )
  )
  return new Set(rows.map(({ address }) => Bytes.key(address)))
})

/**
 * Addresses of subscriptions that came with the chain's revisions above `after` and up to `last`, whose coins are
 * unknown: each once.
 */
export const withoutCoins = Effect.fn("Completeness.withoutCoins")(function* (
  chain: number,
  { after, last }: { readonly after: number; readonly last: number }
) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("subscription as s")
      // A store of release 0.1 may have no row yet.
      .leftJoin("completeness as c", (on) => on.onRef("c.chain", "=", "s.chain").onRef("c.address", "=", "s.address"))
      .select("s.address")
      .distinct()
      .where("s.chain", "=", chain)
      .where("s.active", "=", 1)
      .where("s.address", "is not", null)
      .where("s.revision", ">", after)
      .where("s.revision", "<=", last)
      .where("c.coins", "is", null)
  )
  return rows.map(({ address }) => address as AddressBytes)
})

/** Whether there is an address whose coins are unknown, watched or not; in a transaction. */
export const lacksCoins = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db.selectFrom("completeness").select("chain").where("chain", "=", chain).where("coins", "is", null).limit(1)
  )
  return rows.length > 0
})

/** Watched addresses of an account chain that no node was asked for yet, with the first block of their record. */
export const unasked = Effect.fn("Completeness.unasked")(function* (
  chain: Chain.Chain,
  limit: number,
  after: Uint8Array = new Uint8Array()
) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("completeness as c")
      .innerJoin("chain", "chain.id", "c.chain")
      .select(["c.address", "c.history"])
      .where("chain.name", "=", Chain.nameOf(chain))
      .where("c.coins", "is", null)
      .where("c.history", "is not", null)
      .where("c.address", ">", after)
      .where(isWatched)
      .orderBy("c.address")
      .limit(limit)
  )
  return rows.map(({ address, history }) => ({ address: address as AddressBytes, history: history! }))
})

/**
 * Enters what a node has said of addresses after its block at `height`, unless that block has left the chain; those
 * that came to be watched anew since are asked for again. `unused`: the node had neither nonce, balance nor code, so that
 * no coin had moved up to the block; the coins of all others are known as far back as their history.
 */
export const enterUse = Effect.fn("Completeness.enterUse")(function* (
  chain: Chain.Chain,
  { hash, height }: { readonly height: number; readonly hash: Uint8Array },
  answers: ReadonlyArray<{ readonly address: AddressBytes; readonly unused: boolean }>
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const { id } = yield* ChainRow.lock(yield* ChainRow.make(chain))
      const [block] = yield* query((db) =>
        db.selectFrom("block").select("hash").where("chain", "=", id).where("height", "=", height)
      )
      if (block === undefined || !Bytes.equal(block.hash, hash)) return
      const next = height + 1
      for (const unused of [true, false]) {
        const some = answers.filter((answer) => answer.unused === unused).map(({ address }) => address)
        yield* inChunks(some, (addresses) =>
          query((db) =>
            db
              .updateTable("completeness")
              .set((column) => (unused ? { coins: next, history: 0 } : { coins: column.ref("history") }))
              .where("chain", "=", id)
              .where("address", "in", addresses)
              .where("coins", "is", null)
              .where("history", "<=", next)
              .returning("address")
          )
        )
      }
    })
  )
})

/**
 * The first block from which on the internal transactions of all addresses are recorded without a gap; undefined where
 * they are not recorded at present.
 */
export const internalFrom = Effect.fn("Completeness.internalFrom")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("chain")
      .select("internal_from")
      .select((select) =>
        select
          .selectFrom("missing_part")
          .select(({ fn }) => fn.max("missing_part.height").as("last"))
          .whereRef("missing_part.chain", "=", "chain.id")
          .where("part", "=", "internal")
          .as("lacks")
      )
      .where("name", "=", Chain.nameOf(chain))
  )
  if (row === undefined || row.internal_from === null) return undefined
  return row.lacks === null ? row.internal_from : Math.max(row.internal_from, row.lacks + 1)
})

/** Notes, in a transaction that has the lock of the chain's row, that a part is recorded from `height` on. */
export const prove = Effect.fn("Completeness.prove")(function* (
  chain: number,
  part: Part,
  addresses: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { defer } = yield* Database
  yield* inChunks(addresses, (some) =>
    Effect.as(
      defer((db) =>
        db
          .updateTable("completeness")
          .set({ [part]: height })
          .where("chain", "=", chain)
          .where("address", "in", some)
          .where((where) => where.or([where(part, "is", null), where(part, ">", height)]))
      ),
      []
    )
  )
})

/** The first block of all has been committed: that is where everything that is watched begins. */
export const beginAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .updateTable("completeness")
      .set({ tokens: height, history: height })
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

/** Block 0 has been committed: nobody had coins before it. */
export const proveAllCoins = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("completeness").set({ coins: 0 }).where("chain", "=", chain))
})

/** Notes from which block on internal transactions are recorded; null: they are not. */
export const setInternalFrom = Effect.fnUntraced(function* (chain: number, height: number | null) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("chain").set({ internal_from: height }).where("id", "=", chain))
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
})
