/** Addresses that release 0.1 watched get a row of completeness: their record is known to be complete from now on. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../Database.ts"
import type { Row } from "../Tables.ts"
import type { BackgroundMigration } from "./BackgroundMigration.ts"

type Watcher = Pick<Row<"subscription">, "id" | "chain" | "address">

const rewriting = (
  name: string,
  table: "subscription" | "wallet_address",
  condition = sql<boolean>`1 = 1`
): BackgroundMigration => ({
  name,
  batchSize: 2_000,
  rewrite: Effect.fnUntraced(function* ({ after, last }) {
    const { defer } = yield* Database
    yield* defer((db) =>
      db
        .insertInto("completeness")
        .columns(["chain", "address", "tokens", "history", "transactions"])
        .expression(
          db
            .selectFrom(sql<Watcher>`${sql.table(table)}`.as("watcher"))
            .innerJoin("chain", "chain.id", "watcher.chain")
            .select(["watcher.chain", sql<Uint8Array>`watcher.address`.as("address")])
            .select([sql`chain.height + 1`.as("tokens"), sql`chain.height + 1`.as("history")])
            .select(sql`chain.height + 1`.as("transactions"))
            .distinct()
            .where("watcher.id", ">", after)
            .where("watcher.id", "<=", last)
            .where("watcher.address", "is not", null)
            .where(condition)
        )
        .onConflict((on) => on.columns(["chain", "address"]).doNothing())
    )
  })
})

export const all: ReadonlyArray<BackgroundMigration> = [
  rewriting("completeness of subscriptions", "subscription", sql`watcher.active = 1`),
  rewriting("completeness of wallets", "wallet_address")
]
