/**
 * The addresses of a UTXO chain whose coins are all known: that is, in the UTXO set, whenever they came. So it is where the
 * set has every coin there is, and of an address whose coins a node was searched for.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import type * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import { isMatched } from "./MatchedSubscriptions.ts"

/** Whether every coin there is has been recorded, whoever has it. */
export const hasAll = ({
  all_from,
  coins_lost_from
}: Pick<ChainRow.ChainRow, "all_from" | "coins_lost_from">): boolean => all_from === 0 && coins_lost_from === null

/** Those of the addresses, by their key, of which every output that `height` may spend is recorded; in a transaction. */
export const known = Effect.fnUntraced(function* (
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
export const unknown = Effect.fn("KnownCoins.unknown")(function* (
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
      .where(isMatched("s"))
      .where("s.address", "is not", null)
      .where("s.revision", ">", after)
      .where("s.revision", "<=", last)
      .where("c.coins", "is", null)
  )
  return rows.map(({ address }) => address as AddressBytes)
})

/** Whether there is an address whose coins are unknown, watched or not; in a transaction. */
export const areUnknown = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db.selectFrom("completeness").select("chain").where("chain", "=", chain).where("coins", "is", null).limit(1)
  )
  return rows.length > 0
})

/** Block 0 has been committed: nobody had coins before it. */
export const proveAll = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("completeness").set({ coins: 0 }).where("chain", "=", chain))
})
