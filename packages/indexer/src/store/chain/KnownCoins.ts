/**
 * The addresses of a UTXO chain whose coins are all known: that is, in the UTXO set, whenever they came. So it is where the
 * set has every coin there is, and of an address whose coins a node was searched for.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import { isMatched } from "./MatchedSubscriptions.ts"
import { isNotOfTransaction } from "./TransactionSubscriptions.ts"

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
  const found = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("completeness")
        .select("address")
        .where("chain", "=", chain)
        .where("address", "in", some)
        .where("coins", "<=", height)
    )
  )
  return new Set(found.map(({ address }) => Bytes.key(address)))
})

/** Revisions that are looked through in one query, each of them about one subscription or synced address. */
const revisionsAtATime = 1_000
/** Addresses of lists that are looked through in one query. */
const listedAtATime = 1_000

/** The last of the revisions above `after`, up to `last`, that one query may look through. */
const lastAtOnce = Effect.fnUntraced(function* (chain: number, after: number, last: number) {
  const { read } = yield* Database
  const near = Math.min(after + revisionsAtATime, last)
  // A revision has as many addresses as one edit of a list.
  const [row] = yield* read(
    rows(sql<{ readonly revision: number }>`
      select revision from listed_address
      where chain + 0 = ${chain} and revision > ${after} and revision <= ${near}
      order by revision, id limit 1 offset ${sql.lit(listedAtATime)}`)
  )
  return row === undefined ? near : Math.max(after + 1, row.revision - 1)
})

/**
 * Addresses of subscriptions, and synced ones, that came with the chain's revisions above `after`, no later than with `last`,
 * whose coins are unknown, each once; and the revision up to which they were looked for.
 */
export const unknown = Effect.fn("KnownCoins.unknown")(function* (
  chain: number,
  { after, last }: { readonly after: number; readonly last: number }
) {
  const { read } = yield* Database
  const reached = yield* lastAtOnce(chain, after, last)
  // A store of release 0.1 may have no row yet.
  const isUnknown = (of: string) => {
    const { chain, address } = { chain: sql.ref(`${of}.chain`), address: sql.ref(`${of}.address`) }
    return sql`not exists (
      select 1 from completeness c where c.chain = ${chain} and c.address = ${address} and c.coins is not null)`
  }
  const found = yield* read(
    rows(sql<{ readonly address: AddressBytes }>`
      select s.address from subscription s
      where s.chain = ${chain} and ${isMatched("s")} and s.address is not null
        and ${isNotOfTransaction("s")}
        and s.revision > ${after} and s.revision <= ${reached} and ${isUnknown("s")}
      union
      select a.address from listed_address a join subscription s on s.id = a.subscription
      where a.chain + 0 = ${chain} and a.left_revision is null and a.revision >= s.active_from and ${isMatched("s")}
        and a.revision > ${after} and a.revision <= ${reached} and ${isUnknown("a")}
      union
      select y.address from synced_address y
      where y.chain = ${chain} and y.active = 1
        and y.revision > ${after} and y.revision <= ${reached} and ${isUnknown("y")}`)
  )
  return { addresses: found.map(({ address }) => address), reached }
})

/** Whether there is an address whose coins are unknown, watched or not; in a transaction. */
export const areUnknown = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db.selectFrom("completeness").select("chain").where("chain", "=", chain).where("coins", "is", null).limit(1)
  )
  return found.length > 0
})

/** Block 0 has been committed: nobody had coins before it. */
export const proveAll = Effect.fnUntraced(function* (chain: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.updateTable("completeness").set({ coins: 0 }).where("chain", "=", chain))
})
