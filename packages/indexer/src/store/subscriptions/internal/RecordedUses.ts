/** The blocks that used an address, as the record of every address has them. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import type { EventKind } from "@headwater/core/events/EventKinds"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as TransferPages from "../../chain/transfers/TransferPages.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"

export interface Uses {
  /** Whether anything at all used the address. */
  readonly any: boolean
  /** Blocks with something of the wanted class, each once. */
  readonly heights: ReadonlyArray<number>
  /** Where to go on; undefined at the end. */
  readonly next: number | undefined
}

/** Uses of an address that are looked at in one step. */
const atOnce = 64

/** Outputs to the address, and what spent them: as far as the set has them, or a block may still be undone that spent them. */
const ofOutputs = Effect.fnUntraced(function* (chain: number, address: AddressBytes, from: number, to: number) {
  const { query } = yield* Database
  const of = (table: "spent_output" | "unspent_output", height: "height" | "spent_height") =>
    sql`select ${sql.ref(height)} as height from ${sql.table(table)}
      where chain = ${chain} and script = ${address} and ${sql.ref(height)} >= ${from} and ${sql.ref(height)} <= ${to}`
  const found = yield* query(
    rows(sql<{ readonly height: number }>`
      select distinct height from (
        ${of("unspent_output", "height")}
        union all ${of("spent_output", "height")}
        union all ${of("spent_output", "spent_height")}
      ) uses order by height limit ${atOnce}`)
  )
  const heights = found.map(({ height }) => height)
  const next = heights.length === atOnce ? heights.at(-1)! + 1 : undefined
  return { any: heights.length > 0, heights, next } satisfies Uses as Uses
})

const kinds = ["coin", "token", "internal"] as const

const ofAccounts = Effect.fnUntraced(function* (
  chain: number,
  address: AddressBytes,
  wanted: EventKind["class"],
  from: number,
  to: number
) {
  const heights = new Set<number>()
  const ends: Array<number> = []
  let any = false
  for (const kind of kinds) {
    const request = { order: "ascending", limit: atOnce, fromHeight: from } as const
    const { hasMore, transfers } = yield* TransferPages.page(chain, kind, address, request)
    const inRange = transfers.filter(({ height }) => height <= to)
    any ||= inRange.length > 0
    if (kind !== wanted) continue
    for (const { height } of inRange) heights.add(height)
    if (hasMore && inRange.length === transfers.length) ends.push(inRange.at(-1)!.height + 1)
  }
  return { any, heights: [...heights], next: ends[0] } satisfies Uses as Uses
})

/** What used an address in the blocks `from` … `to`, the first of them at least. */
export const of = (
  chain: Chain,
  id: number,
  address: AddressBytes,
  wanted: EventKind["class"],
  range: { readonly from: number; readonly to: number }
) =>
  chain.ledger === "outputs"
    ? ofOutputs(id, address, range.from, range.to)
    : ofAccounts(id, address, wanted, range.from, range.to)
