/** Lists of what HD wallets have in the store: addresses that are recorded, unspent outputs. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Place } from "./SpendableCoins.ts"
import { rowOf, type WalletKey } from "./WalletKey.ts"

interface Range {
  readonly limit: number
  readonly offset: number
}

const walletOf = Effect.fnUntraced(function* (key: WalletKey) {
  const { read } = yield* Database
  const [row] = yield* read(rowOf(key))
  return row
})

/** The addresses of a branch that are recorded, by their index; undefined where the account has not synced the wallet. */
export const addresses = Effect.fn("WalletLists.addresses")(function* (
  key: WalletKey,
  branch: Place["branch"],
  { limit, offset }: Range
) {
  const { read } = yield* Database
  const wallet = yield* walletOf(key)
  if (wallet === undefined) return undefined
  const [count] = yield* read((db) =>
    db
      .selectFrom("wallet_address")
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .where("wallet", "=", wallet.id)
      .where("branch", "=", branch)
  )
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet_address")
      .select(["address", "address_index"])
      .where("wallet", "=", wallet.id)
      .where("branch", "=", branch)
      .orderBy("address_index")
      .limit(limit)
      .offset(offset)
  )
  return {
    total: Number(count!.total),
    items: rows.map((row) => ({ address: row.address as AddressBytes, index: row.address_index }))
  }
})

/** The addresses of a wallet that are known to be used. */
export const used = Effect.fn("WalletLists.used")(function* (key: WalletKey) {
  const { read } = yield* Database
  const wallet = yield* walletOf(key)
  if (wallet === undefined) return []
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet_address")
      .select("address")
      .where("wallet", "=", wallet.id)
      .where("used_height", "is not", null)
      .orderBy("branch")
      .orderBy("address_index")
  )
  return rows.map(({ address }) => address as AddressBytes)
})

/**
 * The addresses that belong to a wallet, and whether they are known to be used: those of each branch up to `gapLimit` behind
 * its last used one.
 */
export const belonging = Effect.fn("WalletLists.belonging")(function* (key: WalletKey, gapLimit: number) {
  const { read } = yield* Database
  const wallet = yield* walletOf(key)
  if (wallet === undefined) return []
  const rows = yield* read((db) => {
    // Once for each branch: a subquery in the condition would be run for each address.
    const used = db
      .selectFrom("wallet_address")
      .select(({ fn }) => ["branch", fn.max("address_index").as("last")])
      .where("wallet", "=", wallet.id)
      .where("used_height", "is not", null)
      .groupBy("branch")
      .as("used")
    return db
      .selectFrom("wallet_address as a")
      .leftJoin(used, (on) => on.onRef("used.branch", "=", "a.branch"))
      .select(["a.address", "a.used_height"])
      .where("a.wallet", "=", wallet.id)
      .where(sql<boolean>`a.address_index <= ${gapLimit} + coalesce(used.last, -1)`)
      .orderBy("a.branch")
      .orderBy("a.address_index")
  })
  return rows.map(({ address, used_height }) => ({ address: address as AddressBytes, isUsed: used_height !== null }))
})

/** Those of the addresses that are the wallet's, by their key. */
export const members = Effect.fn("WalletLists.members")(function* (key: WalletKey, among: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const wallet = yield* walletOf(key)
  if (wallet === undefined) return new Set<string>()
  const rows = yield* inChunks(among, (some) =>
    read((db) =>
      db
        .selectFrom("wallet_address")
        .select("address")
        .where("chain", "=", wallet.chain)
        .where("address", "in", some)
        .where("wallet", "=", wallet.id)
    )
  )
  return new Set(rows.map(({ address }) => Bytes.key(address)))
})

/** The unspent outputs of a wallet, the oldest first. */
export const unspent = Effect.fn("WalletLists.unspent")(function* (key: WalletKey, { limit, offset }: Range) {
  const { read } = yield* Database
  const wallet = yield* walletOf(key)
  if (wallet === undefined) return { total: 0, coins: [] }
  const [count] = yield* read((db) =>
    db
      .selectFrom("wallet_address as a")
      .innerJoin("unspent_output as o", (on) => on.onRef("o.chain", "=", "a.chain").onRef("o.script", "=", "a.address"))
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .where("a.wallet", "=", wallet.id)
  )
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet_address as a")
      .innerJoin("unspent_output as o", (on) => on.onRef("o.chain", "=", "a.chain").onRef("o.script", "=", "a.address"))
      .select(["o.transaction_id", "o.output_index", "o.script", "o.amount", "o.height", "a.branch", "a.address_index"])
      .where("a.wallet", "=", wallet.id)
      .orderBy("o.height")
      .orderBy("o.transaction_id")
      .orderBy("o.output_index")
      .limit(limit)
      .offset(offset)
  )
  return {
    total: Number(count!.total),
    coins: rows.map((row): Coin & Place => ({
      outpoint: { transactionId: row.transaction_id, index: row.output_index },
      ...{ script: row.script as AddressBytes, amount: BigInt(row.amount), height: row.height },
      ...{ branch: row.branch, index: row.address_index }
    }))
  }
})
