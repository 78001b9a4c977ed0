/** The unspent outputs of an address of a UTXO chain, as the UTXO set has them. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"

/** A coin, with the time of its block where that is recorded: in seconds since the Unix epoch. */
export interface PlacedCoin extends Coin {
  readonly time: number | undefined
}

/** How many coins an address has, and what they are worth in the smallest unit. */
export const total = Effect.fn("AddressCoins.total")(function* (chain: Chain, address: AddressBytes) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return { amount: 0n, count: 0 }
  const [sum] = yield* read((db) =>
    db
      .selectFrom("unspent_output")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      // As text: neither database's driver gives integers of 64 bits as they are.
      .select(sql<string | null>`cast(sum(cast(amount as bigint)) as text)`.as("amount"))
      .where("chain", "=", row.id)
      .where("script", "=", address)
  )
  return { amount: BigInt(sum?.amount ?? 0), count: Number(sum?.count ?? 0) }
})

/** Some of the coins of an address, the oldest first. */
export const page = Effect.fn("AddressCoins.page")(function* (
  chain: Chain,
  address: AddressBytes,
  { limit, offset }: { readonly limit: number; readonly offset: number }
) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return []
  const rows = yield* read((db) =>
    db
      .selectFrom("unspent_output as o")
      .leftJoin("block as b", (on) => on.onRef("b.chain", "=", "o.chain").onRef("b.height", "=", "o.height"))
      .select(["o.transaction_id", "o.output_index", "o.script", "o.amount", "o.height", "b.time"])
      .where("o.chain", "=", row.id)
      .where("o.script", "=", address)
      .orderBy("o.height")
      .orderBy("o.transaction_id")
      .orderBy("o.output_index")
      .limit(limit)
      .offset(offset)
  )
  return rows.map(
    (row): PlacedCoin => ({
      outpoint: { transactionId: row.transaction_id, index: row.output_index },
      ...{ script: row.script as AddressBytes, amount: BigInt(row.amount), height: row.height },
      time: row.time ?? undefined
    })
  )
})
