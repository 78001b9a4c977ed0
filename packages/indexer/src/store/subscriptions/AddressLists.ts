/**
 * Subscriptions on lists of addresses, which are edited while blocks come. Each edit takes the lock of its chain's row and
 * counts the revision up, as every change of subscriptions: an address is matched from the block after its coming on, up to
 * the one before its leaving. An address that has left stays in the store as long as earlier blocks have matches to tell.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as UnixTime from "../../UnixTime.ts"
import * as Limits from "../accounts/Limits.ts"
import * as Completeness from "../chain/Completeness.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import * as SubscriptionRow from "./internal/SubscriptionRow.ts"
import * as ListedOccurrence from "./ListedOccurrence.ts"
import type { SubscriptionKey } from "./Subscription.ts"

/** The most addresses of one list. */
export const maxAddresses = 1_000_000

/** Addresses that one transaction takes. */
export const atOnce = 500

/** The subscription is not on a list. */
export class NotAList extends Schema.TaggedError<NotAList>()("NotAList", { referenceId: Schema.String }) {}

/** The list is that of an extended public key, which the store derives. */
export class DerivedList extends Schema.TaggedError<DerivedList>()("DerivedList", { referenceId: Schema.String }) {}

/** The list would have more addresses than one may have. */
export class ListFull extends Schema.TaggedError<ListFull>()("ListFull", {}) {
  override get message() {
    return `A list may have ${maxAddresses} addresses`
  }
}

export interface Edited {
  /** Addresses that came or left: of the others there was nothing to do. */
  readonly changed: number
  /** Addresses of the list after that. */
  readonly total: number
}

/** In the transaction that makes the subscription: its list, which is empty. */
export const begin = Effect.fnUntraced(function* (subscription: number, account: number) {
  const { query } = yield* Database
  yield* query((db) => db.insertInto("address_list").values({ subscription, account, total: 0 }))
})

const find = Effect.fnUntraced(function* (subscription: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("address_list").selectAll().where("subscription", "=", subscription))
  return row
})

/** The chain's and the list's rows, both locked until the transaction ends. */
const lock = Effect.fnUntraced(function* (key: SubscriptionKey) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const { account, id } = yield* SubscriptionRow.find(key, chain.id, query)
  const list = yield* find(id)
  if (list === undefined) return yield* new NotAList({ referenceId: key.referenceId })
  const derived = yield* query((db) =>
    db.selectFrom("extended_key").select("subscription").where("subscription", "=", id)
  )
  if (derived.length > 0) return yield* new DerivedList({ referenceId: key.referenceId })
  yield* Limits.lockAccount(account)
  return { chain, id, account, total: list.total }
})

const count = Effect.fnUntraced(function* (subscription: number, total: number) {
  const { query } = yield* Database
  yield* query((db) => db.updateTable("address_list").set({ total }).where("subscription", "=", subscription))
})

/** Which of the addresses are in the list, by their keys. */
const present = Effect.fnUntraced(function* (subscription: number, addresses: ReadonlyArray<AddressBytes>) {
  const { query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("listed_address")
        .select("address")
        .where("subscription", "=", subscription)
        .where("address", "in", some)
        .where("left_revision", "is", null)
    )
  )
  return new Set(found.map(({ address }) => Bytes.key(address)))
})

/** In a transaction: adds up to {@link atOnce} addresses, each once; `pay` is told how many are new. */
export const add = Effect.fn("AddressLists.add")(function* <E, R>(
  key: SubscriptionKey,
  addresses: ReadonlyArray<AddressBytes>,
  pay: (added: number) => Effect.Effect<void, E, R>
) {
  const { insertMany } = yield* Database
  const limits = yield* Limits.Limits
  const { account, chain, id, total } = yield* lock(key)
  const known = yield* present(id, addresses)
  const fresh = [
    ...new Map(
      addresses.map((address) => [Bytes.key(address), address] as const).filter(([key]) => !known.has(key))
    ).values()
  ]
  if (total + fresh.length > maxAddresses) return yield* new ListFull()
  if (fresh.length > 0) {
    yield* Limits.check("listedAddresses", (yield* Limits.listedAddressesOf(account)) + fresh.length - 1, limits)
    yield* pay(fresh.length)
    yield* Completeness.begin(chain, fresh, chain.height)
    const created = yield* UnixTime.seconds
    yield* insertMany(
      "listed_address",
      fresh.map((address) => ({
        ...{ subscription: id, chain: chain.id, address, revision: chain.revision, from_height: chain.height, created }
      }))
    )
    yield* count(id, total + fresh.length)
  }
  return { changed: fresh.length, total: total + fresh.length } satisfies Edited
})

/** In a transaction: addresses that have left, and of which no earlier block has anything to tell, are forgotten. */
const forgetLeft = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  yield* query(
    rows(sql`
      delete from listed_address where id in (
        select id from listed_address
        where chain + 0 = ${chain} and left_revision is not null
          and not exists (select 1 from matched m where m.chain = ${chain} and m.address = listed_address.address)
        limit ${atOnce}
      )`)
  )
})

/** In a transaction: takes up to {@link atOnce} addresses out of the list. */
export const remove = Effect.fn("AddressLists.remove")(function* (
  key: SubscriptionKey,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { query } = yield* Database
  const { chain, id, total } = yield* lock(key)
  const left = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .updateTable("listed_address")
        .set({ left_revision: chain.revision })
        .where("subscription", "=", id)
        .where("address", "in", some)
        .where("left_revision", "is", null)
        .returning("id")
    )
  )
  yield* count(id, total - left.length)
  yield* forgetLeft(chain.id)
  return { changed: left.length, total: total - left.length } satisfies Edited
})

/** The list's addresses in the order in which they came, those behind the row `after`. */
export const list = Effect.fn("AddressLists.list")(function* (
  key: SubscriptionKey,
  page: { readonly after: number; readonly limit: number }
) {
  const { read } = yield* Database
  const chain = yield* ChainRow.find(key.chain)
  const { id } = yield* SubscriptionRow.find(key, chain?.id, read)
  const list = yield* find(id)
  if (list === undefined) return yield* new NotAList({ referenceId: key.referenceId })
  const found = yield* read((db) =>
    db
      .selectFrom("listed_address")
      .select(["id", "address", "branch", "address_index"])
      .where("subscription", "=", id)
      .where("left_revision", "is", null)
      .where("id", ">", page.after)
      .orderBy("id")
      .limit(page.limit)
  )
  const addresses = found.map(({ address, address_index, branch, id }) => ({
    ...{ id, address: address as AddressBytes },
    ...(branch === null ? {} : { derivation: ListedOccurrence.derivationOf({ branch, index: address_index! }) })
  }))
  return { total: list.total, addresses }
})

/** In a transaction: removes some addresses of subscriptions that were removed; whether there may be more. */
export const removeSome = Effect.fnUntraced(function* (
  subscriptions: ReturnType<Database["Service"]["numbers"]>,
  most: number
) {
  const { query } = yield* Database
  const removed = yield* query(
    rows(sql<{ readonly id: number }>`
      delete from listed_address where id in (
        select id from listed_address where subscription in ${subscriptions} limit ${most}
      ) returning id`)
  )
  return removed.length === most
})
