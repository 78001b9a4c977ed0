/** The balances of a chain's wallets as they are stored, for a look at whether they are right. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

export interface StoredWallet {
  readonly id: number
  /** The name of its account. */
  readonly account: string
  readonly publicKey: string
  readonly derivation: string
  readonly format: string
  /** Whether the balance is answered: the wallet's coins have been looked for. */
  readonly synced: boolean
}

/** The wallets of a chain. */
export const wallets = Effect.fn("StoredBalances.wallets")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .innerJoin("account", "account.id", "wallet.account")
      .select([
        "wallet.id",
        "account.name",
        "wallet.public_key",
        "wallet.derivation",
        "wallet.format",
        "wallet.scan_height"
      ])
      .where("chain.name", "=", Chain.nameOf(chain))
      .orderBy("wallet.id")
  )
  return rows.map(
    ({ derivation, format, id, name, public_key, scan_height }): StoredWallet => ({
      ...{ id, derivation, format },
      account: name,
      publicKey: public_key,
      synced: scan_height !== null
    })
  )
})

/** The addresses of a wallet that are watched and whose coins are known. */
export const addresses = Effect.fn("StoredBalances.addresses")(function* (wallet: number) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet_address as a")
      .innerJoin("completeness as c", (on) => on.onRef("c.chain", "=", "a.chain").onRef("c.address", "=", "a.address"))
      .select("a.address")
      .where("a.wallet", "=", wallet)
      .where("c.coins", "is not", null)
  )
  return rows.map(({ address }) => address as AddressBytes)
})

/** Balances in the coin's smallest unit, by wallet, all as of one block; undefined before the first commit. */
export const at = Effect.fn("StoredBalances.at")(function* (chain: Chain.Chain, ids: ReadonlyArray<number>) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .select(["wallet.id", "wallet.balance", "wallet.scan_height", "chain.height", "chain.hash"])
      .where("chain.name", "=", Chain.nameOf(chain))
      .where("wallet.id", "in", ids)
  )
  const [first] = rows
  if (first === undefined || first.height === null || first.hash === null) return undefined
  return {
    height: first.height,
    hash: first.hash,
    balances: new Map(
      rows.flatMap(({ balance, id, scan_height }) => (scan_height === null ? [] : [[id, BigInt(balance)]]))
    )
  }
})
