/** Who watches an address: a subscription, also by a list, an HD wallet, or whoever has the address synced. */
import { type Kysely, sql } from "kysely"
import type { Tables } from "../database/Tables.ts"
import { isMatched } from "./MatchedSubscriptions.ts"

/** Those of the addresses that anybody watches, as a select. */
export const of = (db: Kysely<Tables>, chain: number, addresses: ReadonlyArray<Uint8Array>) => {
  const inTable = (table: "subscribed_address" | "synced_address" | "wallet_address") =>
    db
      .selectFrom(sql<{ readonly chain: number; readonly address: Uint8Array }>`${sql.table(table)}`.as("watcher"))
      .select("watcher.address")
      .where("watcher.chain", "=", chain)
      .where("watcher.address", "in", addresses)
  const isActive = sql<boolean>`watcher.active = 1`
  return inTable("subscribed_address")
    .where(isMatched("watcher"))
    .union(inTable("wallet_address"))
    .union(inTable("synced_address").where(isActive))
}
