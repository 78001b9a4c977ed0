/** Whose addresses a block pays or spends from. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import { inChunks } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"

export const columns = ["id", "wallet", "branch", "address_index", "address", "used_height"] as const

/** An address of a wallet. */
export type Owner = Pick<Row<"wallet_address">, (typeof columns)[number]>

/** By the key of the address: several wallets may have the same one. */
export type Owners = ReadonlyMap<string, ReadonlyArray<Owner>>

/** Who owns addresses on the chain that has this number in the store. */
export const find = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query((db) =>
      db.selectFrom("wallet_address").select(columns).where("chain", "=", chain).where("address", "in", some)
    )
  )
  return Map.groupBy(found, ({ address }) => Bytes.key(address)) satisfies Owners
})
