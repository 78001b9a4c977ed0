/**
 * The wallets that an account has synced, and whether they are active. One that is not is recorded on, so that an
 * activation finds nothing missing; but to its account the wallet is as one that is not synced, and costs no daily price.
 */
import { nameOf } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { WalletConflict, WalletNotFound } from "../addresses/SyncedAccountWallets.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import { anyRowOf, type WalletKey } from "./WalletKey.ts"
import type { Wallet } from "./Wallets.ts"

export interface ManagedWallet extends Pick<WalletKey, "derivation" | "format" | "publicKey">, Pick<Wallet, "state"> {
  readonly isActive: boolean
}

const shown = ({ active, derivation, format, public_key, state }: Row<"wallet">): ManagedWallet => ({
  ...{ derivation, format, publicKey: public_key, state },
  isActive: active === 1
})

/** One wallet; undefined where the account has not synced it. */
export const get = Effect.fn("ManagedWallets.get")(function* (key: WalletKey) {
  const { read } = yield* Database
  const [row] = yield* read(anyRowOf(key))
  return row && shown(row)
})

/** The wallets of an account on a chain in the order in which they were synced, and how many there are in all. */
export const list = Effect.fn("ManagedWallets.list")(function* (
  { account, chain }: Pick<WalletKey, "account" | "chain">,
  page: { readonly limit: number; readonly offset: number }
) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .selectAll("wallet")
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.account", "=", account)
      .orderBy("wallet.id")
      .limit(page.limit)
      .offset(page.offset)
  )
  const [count] = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.account", "=", account)
  )
  return { total: Number(count!.total), wallets: rows.map(shown) }
})

/** Activates or deactivates a wallet, in a transaction. */
export const setActive = Effect.fn("ManagedWallets.setActive")(function* (key: WalletKey, isActive: boolean) {
  const { query } = yield* Database
  const [row] = yield* query(anyRowOf(key))
  if (row === undefined) return yield* new WalletNotFound()
  const [active, before] = isActive ? [1, 0] : [0, 1]
  // By the statement, as another request may have changed the wallet since it was read.
  const [changed] = yield* query((db) =>
    db.updateTable("wallet").set({ active }).where("id", "=", row.id).where("active", "=", before).returningAll()
  )
  return changed === undefined ? yield* new WalletConflict({ isActive }) : shown(changed)
})
