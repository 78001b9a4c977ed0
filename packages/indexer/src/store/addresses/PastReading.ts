/**
 * What is yet to be read of the past of synced addresses, by `sync/AddressSync`: first the logs for their tokens, then the
 * blocks that moved their coins. An address is found by the past's last block, too: one that was activated again
 * meanwhile has a record that has begun anew.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import * as Completeness from "../chain/Completeness.ts"
import * as SkippedBlocks from "../chain/SkippedBlocks.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Tables } from "../database/Tables.ts"

/** An address whose past is being read. */
export interface SyncingAddress {
  readonly id: number
  readonly address: AddressBytes
  /** The blocks whose logs are yet to be read, both included; after that `next` is one past `last`. */
  readonly next: number
  readonly last: number
  readonly birth: number
}

/** The addresses of a chain that are watched, and whose past is not read to its end. */
const unread = (db: Kysely<Tables>, chain: Chain.Chain) =>
  db
    .selectFrom("synced_address")
    .innerJoin("chain", "chain.id", "synced_address.chain")
    .where("chain.name", "=", Chain.nameOf(chain))
    .where("active", "=", sql.lit(1))
    .where("state", "!=", "synced")

/** Whether the past of any address of a row of `chain` is yet to be read. */
export const isWaiting = sql<boolean>`(
  select 1 from synced_address a where a.chain = chain.id and a.active = 1 and a.state in ('tokens', 'history') limit 1
) is not null`

/** Addresses of a chain whose past is being read, of those that have got beyond block `above` the ones at the lowest. */
export const syncing = Effect.fn("PastReading.syncing")(function* (
  chain: Chain.Chain,
  phase: "tokens" | "history",
  limit: number,
  above = -1
) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    unread(db, chain)
      .selectAll("synced_address")
      .where("state", "=", phase)
      .where("next_height", ">", above)
      .orderBy("next_height")
      .orderBy("synced_address.id")
      .limit(limit)
  )
  return rows.map(
    ({ address, birth, id, last_height, next_height }): SyncingAddress => ({
      ...{ id, address: address as AddressBytes, next: next_height, last: last_height, birth }
    })
  )
})

/**
 * The account whose turn it is to have its tokens' past read, after that of another, with the lowest block that its addresses
 * wait for; undefined where no address waits above block `above`.
 */
export const nextTurn = Effect.fn("PastReading.nextTurn")(function* (
  chain: Chain.Chain,
  { above, after }: { readonly above: number; readonly after: number }
) {
  const { read } = yield* Database
  const turns = yield* read((db) =>
    unread(db, chain)
      .select(["account", ({ fn }) => fn.min("next_height").as("next")])
      .where("state", "=", "tokens")
      .where("next_height", ">", above)
      .groupBy("account")
      .orderBy("account")
  )
  return turns.find(({ account }) => account > after) ?? turns[0]
})

/** Notes the next block whose logs are to be read; with the last one, tokens are known from `birth` on. */
export const advance = Effect.fn("PastReading.advance")(function* (
  chain: Chain.Chain,
  addresses: ReadonlyArray<SyncingAddress>,
  next: number
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const { id: chainId } = yield* ChainRow.lock(yield* ChainRow.make(chain))
      for (const { address, birth, id, last } of addresses) {
        const isDone = next > last
        const [still] = yield* query((db) =>
          db
            .updateTable("synced_address")
            .set({ next_height: next, ...(isDone ? { state: "history" } : {}) })
            .where("id", "=", id)
            .where("active", "=", 1)
            // Activated again meanwhile: the record has begun anew.
            .where("last_height", "=", last)
            .returning("id")
        )
        if (!isDone || still === undefined) continue
        const skipped = yield* SkippedBlocks.lastFrom(chainId, last + 1)
        yield* Completeness.prove(chainId, "tokens", [address], skipped === undefined ? birth : skipped + 1)
      }
    })
  )
})

/** Ends the reading of an address's past; `read`: every block below that height that moved its coins has been entered. */
export const finish = Effect.fn("PastReading.finish")(function* (
  chain: Chain.Chain,
  { address, id, last }: SyncingAddress,
  read: number | undefined
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const { id: chainId } = yield* ChainRow.lock(yield* ChainRow.make(chain))
      const [still] = yield* query((db) =>
        db
          .updateTable("synced_address")
          .set({ state: "synced" })
          .where("id", "=", id)
          .where("active", "=", 1)
          .where("last_height", "=", last)
          .returning("id")
      )
      if (read === undefined || still === undefined) return
      if ((yield* SkippedBlocks.lastFrom(chainId, read)) === undefined) {
        yield* Completeness.prove(chainId, "history", [address], 0)
        yield* Completeness.prove(chainId, "coins", [address], read)
      }
    })
  )
})

/** Those of the addresses whose past is being read, by their key. */
export const beingRead = Effect.fn("PastReading.beingRead")(function* (
  chain: Chain.Chain,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { read } = yield* Database
  const rows = yield* inChunks(addresses, (some) =>
    read((db) => unread(db, chain).select("address").where("address", "in", some))
  )
  return new Set(rows.map(({ address }) => Bytes.key(address)))
})

/** Addresses whose past is being read, and the blocks of logs that are left for the one that has got least far. */
export const progress = Effect.fn("PastReading.progress")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    unread(db, chain).select(({ fn }) => [
      fn.countAll<number>().as("addresses"),
      fn.min("next_height").as("next"),
      fn.max("last_height").as("last")
    ])
  )
  return row === undefined || row.addresses === 0
    ? undefined
    : { addresses: row.addresses, next: row.next, last: row.last }
})
