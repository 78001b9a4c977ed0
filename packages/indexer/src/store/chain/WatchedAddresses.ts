/**
 * The addresses of one chain that each block is matched against: those of subscriptions and HD wallets, synced ones, and
 * those of a program that embeds the indexer.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Watched from "@headwater/core/events/Watched"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ConsumedAddresses from "../consumers/ConsumedAddresses.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import { isMatched } from "./MatchedSubscriptions.ts"

export interface WatchedAddresses {
  readonly set: Watched.Watched
  /** Whether any wallet is synced on the chain. */
  readonly hasWallets: () => boolean
  /** Adds the addresses that came with the chain's revisions up to this one. */
  readonly catchUpToRevision: (revision: number) => Effect.Effect<void, DatabaseError>
  /** Takes those of these addresses out of the set that are of no wallet and not synced; no subscription may have them. */
  readonly release: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<void, DatabaseError>
}

/** Rows read at a time when the set is filled: some milliseconds, after which others have their turn. */
const pageSize = 1_000
/** Pages for which the log has a line. */
const loggedPages = 100

/** The empty set of the chain that has this number in the store. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { query, read } = yield* Database
  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const watched = Watched.make([key[0]!, key[1]!])
  const consumed = yield* ConsumedAddresses.Current
  const set: Watched.Watched =
    consumed === undefined
      ? watched
      : {
          ...watched,
          has: (address) => watched.has(address) || consumed.addresses.has(address),
          size: () => watched.size() + consumed.addresses.size()
        }
  let reached = 0
  let wallets = false
  let synced = false

  /** Adds the addresses that came with the revisions up to the given one. */
  const addFrom = Effect.fnUntraced(function* (
    table: "subscription" | "synced_address" | "wallet_address",
    revision: number
  ) {
    // In the order of an index: sorted by another column, each page would take a look at all rows.
    let after = { revision: reached, id: Number.MAX_SAFE_INTEGER }
    for (let page = 1; ; page++) {
      const found = yield* read((db) =>
        db
          .selectFrom(table)
          .select(["id", "address", "revision"])
          .where("chain", "=", chain)
          .where("revision", ">=", after.revision)
          .where("revision", "<=", revision)
          .where(sql<boolean>`(revision, id) > (${after.revision}, ${after.id})`)
          .$if(table === "subscription", (select) => select.where(isMatched()))
          .$if(table === "synced_address", (select) => select.where(sql<boolean>`active = 1`))
          .orderBy("revision")
          .orderBy("id")
          .limit(pageSize)
      )
      for (const { address } of found) if (address !== null) watched.add(address)
      if (table === "wallet_address" && found.length > 0) wallets = true
      if (table === "synced_address" && found.length > 0) synced = true
      if (found.length < pageSize) return
      after = found.at(-1)!
      yield* Effect.yieldNow
      if (page % loggedPages === 0) yield* Effect.logInfo(`Watching ${watched.size()} addresses so far`)
    }
  })

  /** Adds the addresses of lists that came with these revisions, or began again with them. */
  const addListed = Effect.fnUntraced(function* (revision: number) {
    for (let after = { revision: reached, id: Number.MAX_SAFE_INTEGER }; ; ) {
      // In the order of an index too.
      const found = yield* read(
        rows(sql<Pick<Row<"listed_address">, "address" | "id" | "revision">>`
          select a.id, a.address, a.revision
          from listed_address a join subscription s on s.id = a.subscription
          where a.left_revision is null and a.revision >= s.active_from and ${isMatched("s")} and a.chain + 0 = ${chain}
            and a.revision >= ${after.revision} and a.revision <= ${revision}
            and (a.revision, a.id) > (${after.revision}, ${after.id})
          order by a.revision, a.id limit ${pageSize}`)
      )
      for (const { address } of found) watched.add(address as AddressBytes)
      if (found.length < pageSize) return
      after = found.at(-1)!
      yield* Effect.yieldNow
    }
  })

  return {
    set,
    hasWallets: () => wallets,
    catchUpToRevision: Effect.fnUntraced(function* (revision) {
      if (revision <= reached) return
      yield* addFrom("subscription", revision)
      yield* addFrom("wallet_address", revision)
      yield* addFrom("synced_address", revision)
      yield* addListed(revision)
      reached = revision
    }),
    release: Effect.fnUntraced(function* (addresses) {
      const others = yield* inChunks(wallets || synced ? addresses : [], (some) =>
        query((db) =>
          db
            .selectFrom("wallet_address")
            .select("address")
            .where("chain", "=", chain)
            .where("address", "in", some)
            .unionAll(
              db
                .selectFrom("synced_address")
                .select("address")
                .where("chain", "=", chain)
                .where("active", "=", 1)
                .where("address", "in", some)
            )
        )
      )
      const owned = new Set(others.map(({ address }) => Bytes.key(address)))
      for (const address of addresses) if (!owned.has(Bytes.key(address))) watched.remove(address)
    })
  } satisfies WatchedAddresses as WatchedAddresses
})
