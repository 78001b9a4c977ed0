/**
 * The single addresses that accounts have synced. A synced address is watched as the address of a subscription is, and
 * its past is read from a height that the account names: `PastReading`.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as UnixTime from "../../UnixTime.ts"
import * as Limits from "../accounts/Limits.ts"
import * as Completeness from "../chain/Completeness.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"

/** Names one synced address. */
interface SyncedAddressKey {
  readonly account: number
  readonly chain: Chain.Chain
  readonly address: AddressBytes
}

export interface SyncedAddress extends Pick<SyncedAddressKey, "address"> {
  /** Grows with each address that is added. */
  readonly id: number
  readonly isActive: boolean
  /** `syncing` while the past is being read. */
  readonly status: "syncing" | "synced"
  /** The blocks whose logs are yet to be read; undefined once the past has been read. */
  readonly blocksLeft: number | undefined
  readonly callbackUrl: string | undefined
}

/** The account has synced the address before, or the address is as it was to become. */
export class AddressConflict extends Schema.TaggedError<AddressConflict>()("AddressConflict", {
  isActive: Schema.Boolean
}) {}

/** More blocks of the past would have to be read than are allowed; `last` is the last of them. */
export class PastTooLong extends Schema.TaggedError<PastTooLong>()("PastTooLong", {
  blocks: Schema.Int,
  last: Schema.Int
}) {}

/** The account has not synced the address. */
export class AddressNotFound extends Schema.TaggedError<AddressNotFound>()("AddressNotFound", {}) {}

const shown = ({
  active,
  address,
  callback_url,
  id,
  last_height,
  next_height,
  state
}: Row<"synced_address">): SyncedAddress => ({
  ...{ id, address: address as AddressBytes, isActive: active === 1 },
  ...{ status: state === "synced" ? "synced" : "syncing", callbackUrl: callback_url ?? undefined },
  blocksLeft: state === "synced" ? undefined : Math.max(0, last_height - next_height + 1)
})

const find = Effect.fnUntraced(function* ({ account, address }: SyncedAddressKey, chain: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("synced_address")
      .selectAll()
      .where("account", "=", account)
      .where("chain", "=", chain)
      .where("wallet", "=", 0)
      .where("address", "=", address)
  )
  return row
})

/** What is to be read of the past, of an address that comes to be watched now. */
const past = ({ all_from, height }: ChainRow.ChainRow, birth: number) => {
  if (height === null || birth > height) return { next_height: birth, last_height: -1, state: "synced" } as const
  const last_height = Math.min(height, (all_from ?? height + 1) - 1)
  return { next_height: birth, last_height, state: birth > last_height ? "history" : "tokens" } as const
}

/** As {@link past}; fails where more than `most` blocks would have to be read. */
export const boundedPast = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, birth: number, most: number) {
  const found = past(chain, birth)
  const { last_height: last, next_height: first } = found
  if (last - first + 1 > most) return yield* new PastTooLong({ blocks: last - first + 1, last })
  return found
})

/** Where nodes do not show the past, no block is read, however late the address is activated again. */
const never = Number.MAX_SAFE_INTEGER

/** From where on the past is wanted. */
export interface Birth {
  /** By default the first block of the record. */
  readonly birth: number | undefined
  /** Whether the chain's nodes show the past; if not, no block is read. */
  readonly readsPast: boolean
  /** Blocks of the past that may be read. */
  readonly mostBlocks: number
}

export const birthOf = (
  { first_height, height }: ChainRow.ChainRow,
  { birth, readsPast }: Pick<Birth, "birth" | "readsPast">
) => (readsPast ? (birth ?? first_height ?? (height ?? -1) + 1) : never)

/** Watches those addresses of a wallet that are not watched for that yet, in a transaction that has counted up the revision. */
export const addOfWallet = Effect.fnUntraced(function* (
  chain: ChainRow.ChainRow,
  { account, birth, id: wallet }: Pick<Row<"synced_wallet">, "account" | "birth" | "id">,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { insertMany } = yield* Database
  yield* Completeness.begin(chain, addresses, chain.height)
  const created = yield* UnixTime.seconds
  yield* insertMany(
    "synced_address",
    addresses.map((address) => ({
      ...{ account, chain: chain.id, wallet, address, revision: chain.revision, active: 1, birth, created },
      ...{ callback_url: null, ...past(chain, birth) }
    })),
    "on conflict do nothing"
  )
})

/** Stops or begins watching every address of a wallet, in a transaction that has counted up the revision. */
export const setActiveOfWallet = Effect.fnUntraced(function* (
  chain: ChainRow.ChainRow,
  { birth, id }: Pick<Row<"synced_wallet">, "birth" | "id">,
  isActive: boolean
) {
  const { query } = yield* Database
  if (isActive) {
    const rows = yield* query((db) => db.selectFrom("synced_address").select("address").where("wallet", "=", id))
    yield* Completeness.begin(
      chain,
      rows.map(({ address }) => address),
      chain.height
    )
  }
  yield* query((db) =>
    db
      .updateTable("synced_address")
      .set({ active: isActive ? 1 : 0, revision: chain.revision, ...(isActive ? past(chain, birth) : {}) })
      .where("wallet", "=", id)
  )
})

/** Watches an address, in a transaction; its tokens are read from `birth` on, by default from the record's first block. */
export const add = Effect.fn("SyncedAddresses.add")(function* (
  key: SyncedAddressKey,
  options: Birth & { readonly callbackUrl: string | undefined }
) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const before = yield* find(key, chain.id)
  if (before !== undefined) return yield* new AddressConflict({ isActive: before.active === 1 })
  yield* Limits.lockAccount(key.account)
  yield* Limits.check("addresses", yield* Limits.addressesOf(key.account), yield* Limits.Limits)
  const birth = birthOf(chain, options)
  const past = yield* boundedPast(chain, birth, options.mostBlocks)
  yield* Completeness.begin(chain, [key.address], chain.height)
  const created = yield* UnixTime.seconds
  const [row] = yield* query((db) =>
    db
      .insertInto("synced_address")
      .values({
        ...{ account: key.account, chain: chain.id, wallet: 0, address: key.address, active: 1, birth },
        ...{ callback_url: options.callbackUrl ?? null, ...past, created },
        revision: chain.revision
      })
      .returningAll()
  )
  return shown(row!)
})

/** Stops or begins watching an address, in a transaction; what was read of its past before is read again. */
export const setActive = Effect.fn("SyncedAddresses.setActive")(function* (
  key: SyncedAddressKey,
  isActive: boolean,
  { mostBlocks }: Pick<Birth, "mostBlocks">
) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* find(key, chain.id)
  if (row === undefined) return yield* new AddressNotFound()
  if ((row.active === 1) === isActive) return yield* new AddressConflict({ isActive })
  const past = isActive ? yield* boundedPast(chain, row.birth, mostBlocks) : {}
  if (isActive) yield* Completeness.begin(chain, [key.address], chain.height)
  const [changed] = yield* query((db) =>
    db
      .updateTable("synced_address")
      .set({ active: isActive ? 1 : 0, revision: chain.revision, ...past })
      .where("id", "=", row.id)
      .returningAll()
  )
  return shown(changed!)
})

/** Whether the account has synced the address, and stopped that. */
export const isDeactivated = Effect.fn("SyncedAddresses.isDeactivated")(function* (key: SyncedAddressKey) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("synced_address")
      .innerJoin("chain", "chain.id", "synced_address.chain")
      .select("active")
      .where("chain.name", "=", Chain.nameOf(key.chain))
      .where("account", "=", key.account)
      .where("wallet", "=", 0)
      .where("address", "=", key.address)
  )
  return rows.some(({ active }) => active === 0)
})

/** The addresses of an account in the order in which they were added, those after the one with the id `after`. */
export const list = Effect.fn("SyncedAddresses.list")(function* (
  { account, chain }: Omit<SyncedAddressKey, "address">,
  page: { readonly after: number | undefined; readonly limit: number; readonly order: "asc" | "desc" }
) {
  const { read } = yield* Database
  const { after } = page
  const rows = yield* read((db) =>
    db
      .selectFrom("synced_address")
      .innerJoin("chain", "chain.id", "synced_address.chain")
      .selectAll("synced_address")
      .where("chain.name", "=", Chain.nameOf(chain))
      .where("account", "=", account)
      .where("wallet", "=", 0)
      .$if(after !== undefined, (db) => db.where("synced_address.id", page.order === "asc" ? ">" : "<", after!))
      .orderBy("synced_address.id", page.order)
      .limit(page.limit)
  )
  return rows.map(shown)
})
