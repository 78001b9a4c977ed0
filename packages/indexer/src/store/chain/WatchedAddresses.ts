/** The addresses of one chain that a block is looked through for: those of subscriptions and those of HD wallets. */

import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Watched from "@headwater/core/events/Watched"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"

/** Rows read at a time when the set is filled. */
const pageSize = 50_000

/** The empty set of the chain that has this number in the store. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { query, read } = yield* Database
  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const watched = Watched.make([key[0]!, key[1]!])
  let reached = 0
  let wallets = false

  /** Adds the addresses that came with the revisions up to the given one. */
  const addThose = Effect.fnUntraced(function* (whose: "subscription" | "wallet_address", revision: number) {
    let after = 0
    while (true) {
      const rows = yield* read((db) =>
        db
          .selectFrom(whose)
          .select(["id", "address"])
          .where("chain", "=", chain)
          .where("revision", ">", reached)
          .where("revision", "<=", revision)
          .where("id", ">", after)
          .$if(whose === "subscription", (select) => select.where("subscription.active", "=", 1))
          .orderBy("id")
          .limit(pageSize)
      )
      for (const { address } of rows) if (address !== null) watched.add(address)
      if (whose === "wallet_address" && rows.length > 0) wallets = true
      if (rows.length < pageSize) return
      after = rows.at(-1)!.id
      yield* Effect.logInfo(`Watching ${watched.size()} addresses so far`)
    }
  })

  return {
    set: watched,
    /** Whether any wallet is synced on the chain. */
    hasWallets: () => wallets,
    /** Brings the set up to a revision of the chain. */
    reach: Effect.fnUntraced(function* (revision: number) {
      if (revision <= reached) return
      yield* addThose("subscription", revision)
      yield* addThose("wallet_address", revision)
      reached = revision
    }),
    /** Takes those of these addresses out of the set that no wallet has. */
    release: Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>) {
      const owned = new Set<string>()
      const rows = yield* inChunks(wallets ? addresses : [], (some) =>
        query((db) =>
          db.selectFrom("wallet_address").select("address").where("chain", "=", chain).where("address", "in", some)
        )
      )
      for (const { address } of rows) owned.add(Bytes.key(address))
      for (const address of addresses) if (!owned.has(Bytes.key(address))) watched.remove(address)
    })
  }
})
