/**
 * Matches that a commit leaves to the steps (`FanOut`): what has happened at an address, or of a block, once, and whose turn
 * it is to have callbacks of that.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import * as LeftMatches from "../LeftMatches.ts"

/** Rows of a chain's matches at a height of which no account is to have callbacks. */
export const withoutTurns = sql<boolean>`not exists (select 1 from fan_out where fan_out.matched = matched.id)`

const keyOf = (address: Uint8Array | undefined) => (address === undefined ? "" : Buffer.from(address).toString("hex"))

/** Addresses, by their hex, whose matches are left to the steps; the empty text is the block itself. */
export const pendingAddresses = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const found = yield* query((db) => db.selectFrom("matched").select("address").distinct().where("chain", "=", chain))
  return new Set(found.map(({ address }) => keyOf(address ?? undefined)))
})

/** Accounts that are to have callbacks by the steps; no more than `most`, in the order of their ids. */
export const accounts = Effect.fnUntraced(function* (chain: number, most: number) {
  const { query } = yield* Database
  const found = yield* query(
    rows(sql<{ account: number }>`
      with recursive turn(account) as (
        select min(account) from fan_out where chain = ${chain}
        union all
        select (select min(account) from fan_out where chain = ${chain} and account > turn.account)
        from turn where account is not null
      )
      select account from turn where account is not null limit ${most}`)
  )
  return found.map(({ account }) => account)
})

/** Those of the accounts that are to have callbacks of the address by the steps. */
export const accountsAt = Effect.fnUntraced(function* (
  chain: number,
  address: AddressBytes | undefined,
  of: ReadonlyArray<number>
) {
  const { numbers, query } = yield* Database
  const isAddress = address === undefined ? sql`m.address is null` : sql`m.address = ${address}`
  const found = yield* query(
    rows(sql<{ id: number }>`
      select id from account
      where id in ${numbers(of)} and exists (
        select 1 from fan_out f join matched m on m.id = f.matched
        where f.chain = ${chain} and f.account = account.id and ${isAddress}
      )`)
  )
  return found.map(({ id }) => id)
})

/** What has happened at an address in a block, or in the block itself. */
export interface AddressMatches {
  readonly address: AddressBytes | undefined
  readonly matches: ReadonlyArray<LeftMatches.Match>
  /** The accounts that are to have callbacks of it; all that have subscriptions where it is undefined. */
  readonly accounts: ReadonlyArray<number> | undefined
}

/** Gives each account with subscriptions to a block's busy address its turn at the rest of the block. */
const addAllTurns = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  // Each by an index, which a join with the view of both would not use.
  for (const join of [
    "subscription s on s.chain = m.chain and s.address = m.address",
    `listed_address a on a.chain = m.chain and a.address = m.address and a.left_revision is null
     join subscription s on s.id = a.subscription and a.revision >= s.active_from`,
    "subscription s on s.chain = m.chain and m.address is null and s.address is null"
  ]) {
    yield* defer((db) => {
      const statement = sql`
        insert into fan_out (chain, account, matched, subscription, occurrence)
        select distinct m.chain, s.account, m.id, 0, 0
        from matched m join ${sql.raw(join)}
        where m.chain = ${chain} and m.height = ${height} and ${isMatched("s")}
        on conflict do nothing`
      return { compile: () => statement.compile(db), execute: () => statement.execute(db) }
    })
  }
  yield* defer((db) =>
    db.deleteFrom("matched").where("chain", "=", chain).where("height", "=", height).where(withoutTurns)
  )
})

/** Matches of a row: gas pays for so many transfers to one address in a block that no text could have them all. */
export const MatchesOfRow = Context.Reference<number>(
  "@headwater/indexer/store/subscriptions/internal/DeferredMatches/MatchesOfRow",
  { defaultValue: () => 2_000 }
)

/** The matches of each address in rows, in their order. */
const inRows = (left: ReadonlyArray<AddressMatches>, most: number): ReadonlyArray<AddressMatches> =>
  left.flatMap((one) =>
    Array.from({ length: Math.ceil(one.matches.length / most) }, (_, row) => ({
      ...one,
      matches: one.matches.slice(row * most, (row + 1) * most)
    }))
  )

/** Rows of so many matches go to the store at a time: a statement of PostgreSQL has room for a gigabyte. */
const rowsTogether = 16

/** Rows in groups, none of more matches than a few rows have. */
const inGroups = (rows: ReadonlyArray<AddressMatches>, most: number): ReadonlyArray<ReadonlyArray<AddressMatches>> => {
  const groups: Array<Array<AddressMatches>> = []
  let room = 0
  for (const row of rows) {
    if (groups.length === 0 || row.matches.length > room) {
      groups.push([])
      room = rowsTogether * most
    }
    groups.at(-1)!.push(row)
    room -= row.matches.length
  }
  return groups
}

/** In the commit of a block: leaves matches of addresses to the steps, once. */
export const defer = Effect.fnUntraced(function* (
  chain: number,
  block: { readonly height: number; readonly hash: Uint8Array },
  at: { readonly revision: number; readonly now: number },
  left: ReadonlyArray<AddressMatches>
) {
  const { insertMany, query } = yield* Database
  const most = yield* MatchesOfRow
  const add = (matches: ReadonlyArray<AddressMatches>) =>
    Effect.forEach(
      inGroups(inRows(matches, most), most),
      (rows) =>
        insertMany(
          "matched",
          rows.map(({ address, matches }) => ({
            ...{ chain, height: block.height, block_hash: block.hash, address: address ?? null },
            ...{ revision: at.revision, created: at.now },
            occurrences: LeftMatches.encode(matches)
          }))
        ),
      { discard: true }
    )
  const [all, some] = [true, false].map((isAll) => left.filter(({ accounts }) => isAll === (accounts === undefined)))
  if (all!.length > 0) {
    yield* add(all!)
    yield* addAllTurns(chain, block.height)
  }
  if (some!.length === 0) return
  // Behind the statements that give turns to all who have subscriptions to the addresses of the block that are left.
  yield* add(some!)
  const added = yield* query((db) =>
    db.selectFrom("matched").select(["id", "address"]).where("chain", "=", chain).where("height", "=", block.height)
  )
  const rowsOf = Map.groupBy(added, ({ address }) => keyOf(address ?? undefined))
  yield* insertMany(
    "fan_out",
    some!.flatMap(({ accounts, address }) =>
      rowsOf
        .get(keyOf(address))!
        .flatMap(({ id }) =>
          accounts!.map((account) => ({ chain, account, matched: id, subscription: 0, occurrence: 0 }))
        )
    )
  )
})

/** In the transaction that undoes the blocks above `fork`: forgets what is not written yet. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .deleteFrom("fan_out")
      .where("chain", "=", chain)
      .where("matched", "in", (of) =>
        of.selectFrom("matched").select("id").where("chain", "=", chain).where("height", ">", fork)
      )
  )
  yield* defer((db) => db.deleteFrom("matched").where("chain", "=", chain).where("height", ">", fork))
})
