/** Movements in doubt, of blocks that are kept for consumers: for `sync/EventResolution`, as those of subscriptions are. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as BlockEvents from "./BlockEvents.ts"

/** Of a chain, by its number. */
const areInDoubt = (chain: number) =>
  sql`chain = ${chain} and left_number is null and lacks <> '' and lacks like ${sql.lit(`${BlockEvents.inDoubt}%`)}`

/** Blocks above `height` with a movement in doubt, the lowest first; no more than `limit`. */
export const heightsAbove = Effect.fn("UnresolvedMovements.heightsAbove")(function* (
  chain: Chain,
  height: number,
  limit: number
) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return []
  const found = yield* read(
    rows(sql<Pick<Row<"consumed_block">, "height">>`
      select height from consumed_block where ${areInDoubt(row.id)} and height > ${height} order by height limit ${limit}`)
  )
  return found.map(({ height }) => height)
})

/** The movements of one block in doubt. */
export const at = Effect.fn("UnresolvedMovements.at")(function* (chain: Chain, height: number) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return []
  const found = yield* read(
    rows(sql<Pick<Row<"consumed_block">, "content">>`
      select content from consumed_block where ${areInDoubt(row.id)} and height = ${height}`)
  )
  return found
    .flatMap(({ content }) => BlockEvents.keptOf(content).unresolved)
    .flatMap(({ address, transactionId }) => {
      const decoded = Address.decode(chain, address)
      // An output without an address has none that a node would be asked for.
      return Result.isFailure(decoded)
        ? []
        : { address: decoded.success, transactionId: Uint8Array.from(Buffer.from(transactionId, "hex")) }
    })
})
