/**
 * What addresses of an account chain received and spent in coins, by the record. Of an address with a long history the sums
 * up to a block are kept, so that the next ones begin behind that: they go with any change of the blocks that they count.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as TransferPages from "./transfers/TransferPages.ts"

/** In the coin's smallest unit. */
export interface CoinTotals {
  readonly received: bigint
  readonly spent: bigint
}

/** Transfers that are read at a time; sums of more are kept. */
const atOnce = 1_000
/** Blocks below the last one up to which sums are kept: a common reorganisation leaves those. */
const settledDepth = 64

const kept = Effect.fnUntraced(function* (chain: number, address: AddressBytes) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectFrom("coin_total").selectAll().where("chain", "=", chain).where("address", "=", address)
  )
  return row
})

/** Keeps sums, unless the blocks that they count may have changed since the row was read. */
const keep = Effect.fnUntraced(function* (
  { coin_changes, id }: ChainRow.ChainRow,
  address: AddressBytes,
  height: number,
  { received, spent }: CoinTotals
) {
  const { insertMany, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const now = yield* ChainRow.lock(id)
      if (now.coin_changes !== coin_changes || now.height === null || now.height < height) return
      yield* insertMany(
        "coin_total",
        [{ chain: id, address, height, received: String(received), spent: String(spent) }],
        `on conflict (chain, address) do update
          set height = excluded.height, received = excluded.received, spent = excluded.spent`
      )
    })
  )
})

/** The sums of an address over the blocks up to a height. */
export const of = Effect.fn("CoinTotals.of")(function* (chain: Chain, address: AddressBytes, upTo: number) {
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return { received: 0n, spent: 0n } satisfies CoinTotals
  const before = yield* kept(row.id, address)
  const isUsable = before !== undefined && before.height <= upTo
  let received = isUsable ? BigInt(before.received) : 0n
  let spent = isUsable ? BigInt(before.spent) : 0n
  const settled = upTo - settledDepth
  let settledSums: CoinTotals = { received, spent }
  let read = 0
  let after: number | undefined
  while (true) {
    const { hasMore, transfers }: TransferPages.Page<"coin"> = yield* TransferPages.page(row.id, "coin", address, {
      ...{ order: "ascending", limit: atOnce, after },
      fromHeight: isUsable ? before.height + 1 : undefined
    })
    const counted = transfers.filter(({ height }) => height <= upTo)
    for (const { height, transfer } of counted) {
      const { amount, from, to } = transfer
      if (to !== undefined && Bytes.equal(to, address)) received += amount
      if (from !== undefined && Bytes.equal(from, address)) spent += amount
      if (height > settled) continue
      settledSums = { received, spent }
      read++
    }
    if (!hasMore || counted.length < transfers.length) break
    after = transfers.at(-1)!.position
  }
  if (read >= atOnce) yield* keep(row, address, settled, settledSums)
  return { received, spent } satisfies CoinTotals
})

/** Forgets sums that count a block at or above a height; in the transaction that changes such a block. */
export const forget = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("coin_total").where("chain", "=", chain).where("height", ">=", height))
  yield* defer((db) =>
    db.updateTable("chain").set({ coin_changes: sql<number>`coin_changes + 1` }).where("id", "=", chain)
  )
})
