/**
 * The HD wallets of account chains that accounts have synced. A wallet is its addresses, which are watched and read as
 * single synced addresses are: up to a gap at first, and further when a reading of the wallet gets further.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import type { Derivation } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as UnixTime from "../../UnixTime.ts"
import * as Limits from "../accounts/Limits.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as SyncedAddresses from "./SyncedAddresses.ts"

/** Names one synced wallet. */
export interface WalletKey {
  readonly account: number
  readonly chain: Chain.Chain
  /** As `ExtendedPublicKey.encode` writes it. */
  readonly publicKey: string
  readonly derivation: Derivation
}

interface SyncedAccountWallet extends Pick<WalletKey, "derivation" | "publicKey"> {
  readonly isActive: boolean
  /** `syncing` while the past of any of its addresses is being read. */
  readonly status: "syncing" | "synced"
  /** The blocks whose logs are yet to be read for the address that has got least far; undefined once all is read. */
  readonly blocksLeft: number | undefined
}

/** The account has synced the wallet before, or the wallet is as it was to become. */
export class WalletConflict extends Schema.TaggedError<WalletConflict>()("WalletConflict", {
  isActive: Schema.Boolean
}) {}

/** The account has not synced the wallet. */
export class WalletNotFound extends Schema.TaggedError<WalletNotFound>()("WalletNotFound", {}) {}

const find = Effect.fnUntraced(function* ({ account, derivation, publicKey }: WalletKey, chain: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("synced_wallet")
      .selectAll()
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("public_key", "=", publicKey)
      .where("derivation", "=", derivation)
  )
  return row
})

/** The row of a wallet; undefined where the account has not synced it. */
const rowOf = Effect.fnUntraced(function* (key: WalletKey) {
  const chain = yield* ChainRow.find(key.chain)
  return chain && (yield* find(key, chain.id))
})

/** Whether the account has synced the wallet, and has not deactivated it since. */
export const isActive = Effect.fn("SyncedAccountWallets.isActive")(function* (key: WalletKey) {
  return (yield* rowOf(key))?.active === 1
})

/**
 * How many addresses of a synced wallet are watched, and whether this one is among them; undefined where the account has not
 * synced the wallet, or has deactivated it.
 */
export const watched = Effect.fn("SyncedAccountWallets.watched")(function* (key: WalletKey, address: AddressBytes) {
  const { read } = yield* Database
  const row = yield* rowOf(key)
  if (row?.active !== 1) return undefined
  const own = yield* read((db) =>
    db
      .selectFrom("synced_address")
      .select("id")
      .where("account", "=", key.account)
      .where("chain", "=", row.chain)
      .where("address", "=", address)
      .where("wallet", "=", row.id)
  )
  const [count] = yield* read((db) =>
    db
      .selectFrom("synced_address")
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .where("wallet", "=", row.id)
  )
  return { total: count!.total, isAmongThem: own.length > 0 }
})

/** The addresses of a synced wallet that are watched; undefined where the account has not synced it, or has deactivated it. */
export const addresses = Effect.fn("SyncedAccountWallets.addresses")(function* (key: WalletKey) {
  const { read } = yield* Database
  const row = yield* rowOf(key)
  if (row?.active !== 1) return undefined
  const rows = yield* read((db) => db.selectFrom("synced_address").select("address").where("wallet", "=", row.id))
  return rows.map(({ address }) => address as AddressBytes)
})

/** Null where no past is being read. */
const blocksLeft = sql<number | null>`(
  select max(a.last_height - a.next_height + 1) from synced_address a
  where a.wallet = synced_wallet.id and a.active = 1 and a.state <> 'synced'
)`

const shown = ({ active, derivation, left, public_key }: Row<"synced_wallet"> & { readonly left: number | null }) =>
  ({
    ...{ derivation, publicKey: public_key, isActive: active === 1, status: left === null ? "synced" : "syncing" },
    blocksLeft: left === null ? undefined : Math.max(0, left)
  }) satisfies SyncedAccountWallet

/** Watches the first addresses of a wallet, in a transaction. */
export const add = Effect.fn("SyncedAccountWallets.add")(function* (
  key: WalletKey,
  addresses: ReadonlyArray<AddressBytes>,
  options: SyncedAddresses.Birth
) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const before = yield* find(key, chain.id)
  if (before !== undefined) return yield* new WalletConflict({ isActive: before.active === 1 })
  yield* Limits.lockAccount(key.account)
  yield* Limits.check("wallets", yield* Limits.walletsOf(key.account), yield* Limits.Limits)
  const birth = SyncedAddresses.birthOf(chain, options)
  yield* SyncedAddresses.boundedPast(chain, birth, options.mostBlocks)
  const created = yield* UnixTime.seconds
  const [row] = yield* query((db) =>
    db
      .insertInto("synced_wallet")
      .values({
        ...{ account: key.account, chain: chain.id, public_key: key.publicKey, derivation: key.derivation, active: 1 },
        ...{ created, birth }
      })
      .returningAll()
  )
  yield* SyncedAddresses.addOfWallet(chain, row!, addresses)
})

/** Watches further addresses of a wallet, in a transaction; whether the account has synced the wallet and it is active. */
export const extend = Effect.fn("SyncedAccountWallets.extend")(function* (
  key: WalletKey,
  addresses: ReadonlyArray<AddressBytes>
) {
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* find(key, chain.id)
  if (row === undefined || row.active === 0) return false
  yield* SyncedAddresses.addOfWallet(chain, row, addresses)
  return true
})

/** Stops or begins watching the addresses of a wallet, in a transaction. */
export const setActive = Effect.fn("SyncedAccountWallets.setActive")(function* (
  key: WalletKey,
  isActive: boolean,
  { mostBlocks }: Pick<SyncedAddresses.Birth, "mostBlocks">
) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* find(key, chain.id)
  if (row === undefined) return yield* new WalletNotFound()
  if ((row.active === 1) === isActive) return yield* new WalletConflict({ isActive })
  if (isActive) yield* SyncedAddresses.boundedPast(chain, row.birth, mostBlocks)
  yield* SyncedAddresses.setActiveOfWallet(chain, row, isActive)
  const [changed] = yield* query((db) =>
    db
      .updateTable("synced_wallet")
      .set({ active: isActive ? 1 : 0 })
      .where("id", "=", row.id)
      .returningAll()
      .returning(blocksLeft.as("left"))
  )
  return shown(changed!)
})

/** The wallets of an account in the order in which they were synced, and how many there are in all. */
export const list = Effect.fn("SyncedAccountWallets.list")(function* (
  { account, chain }: Pick<WalletKey, "account" | "chain">,
  page: { readonly limit: number; readonly offset: number }
) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return { total: 0, wallets: [] }
  const rows = yield* read((db) =>
    db
      .selectFrom("synced_wallet")
      .selectAll()
      .select(blocksLeft.as("left"))
      .where("chain", "=", row.id)
      .where("account", "=", account)
      .orderBy("id")
      .limit(page.limit)
      .offset(page.offset)
  )
  const [count] = yield* read((db) =>
    db
      .selectFrom("synced_wallet")
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .where("chain", "=", row.id)
      .where("account", "=", account)
  )
  return { total: count!.total, wallets: rows.map(shown) }
})

/** One wallet; undefined where the account has not synced it. */
export const get = Effect.fn("SyncedAccountWallets.get")(function* (key: WalletKey) {
  const { read } = yield* Database
  const row = yield* rowOf(key)
  if (row === undefined) return undefined
  const [found] = yield* read((db) =>
    db.selectFrom("synced_wallet").selectAll().select(blocksLeft.as("left")).where("id", "=", row.id)
  )
  return found && shown(found)
})
