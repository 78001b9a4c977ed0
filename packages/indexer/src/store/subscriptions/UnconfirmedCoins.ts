/**
 * The subscriptions of one chain to unconfirmed coins, and their callbacks. A callback's key names the subscription, the
 * transaction and the address of a list, so each transaction has one callback, also across restarts.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Filter from "@headwater/core/events/Filter"
import type { NetMovement } from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import * as ListedOccurrence from "./ListedOccurrence.ts"
import { readFilter } from "./Subscription.ts"

/** The net that a transaction in a node's mempool moves for one address. */
interface MempoolTransfer extends Omit<NetMovement, "transaction"> {
  readonly transactionId: Uint8Array
  /** When a node first saw the transaction, in seconds since the Unix epoch. */
  readonly firstSeen: number
}

/** A block, by its place in the chain. */
export interface Tip {
  readonly height: number
  readonly hash: Uint8Array
}

export interface UnconfirmedCoins {
  /** Brings {@link has} up to date; whether there is any such subscription. */
  readonly refresh: Effect.Effect<boolean, DatabaseError>
  /** The last committed block, whose UTXO set the store has; undefined where there is none. */
  readonly tip: Effect.Effect<Tip | undefined, DatabaseError>
  /** Whether a subscription may be for the address. */
  readonly has: (address: AddressBytes) => boolean
  /**
   * Makes the callbacks of these transfers; how many there are, of which some may have been made before. A subscription
   * that was created later than `aheadMillis` after a transaction was first seen has no callback for that.
   */
  readonly record: (
    transfers: ReadonlyArray<MempoolTransfer>,
    aheadMillis: number
  ) => Effect.Effect<number, DatabaseError>
}

const events = [...eventsOfClass("coin", "mempool")]
// As literals, so that planners see that the partial index holds them all.
const isUnconfirmed = sql.join(
  events.map((event) => sql`event = ${sql.lit(event)}`),
  sql` or `
)
const wanting = sql`(${isUnconfirmed}) and ${isMatched()}`

/** Addresses of lists that are read at a time. */
const pageSize = 1_000

type Subscriber = Pick<
  Row<"subscribed_address">,
  "id" | "reference_id" | "account" | "host" | "event" | "address" | "created" | "active" | "filter" | "is_listed"
> &
  Pick<Row<"listed_address">, "branch" | "address_index">

/** Subscriptions by the key of their address. */
const subscribersOf = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<AddressBytes>) {
  const { query } = yield* Database
  const found: ReadonlyArray<Subscriber> = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("subscribed_address as s")
        .select([
          "id",
          "reference_id",
          "account",
          "host",
          "event",
          "address",
          "created",
          "active",
          "filter",
          "is_listed",
          ...ListedOccurrence.placeColumns("s")
        ])
        .where("chain", "=", chain)
        .where("address", "in", some)
        .where(isMatched("s"))
        .where("event", "in", events)
        .orderBy("id")
    )
  )
  return Map.groupBy(found, ({ address }) => Bytes.key(address))
})

/** Addresses that subscriptions may be for, as far as the store was at the last refresh. */
const watchedAddresses = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const database = yield* Database
  const { read } = database
  const row = Effect.map(Effect.provideService(ChainRow.present(chain), Database, database), (row) => row!)
  const { id } = yield* row
  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const empty = () => Watched.make([key[0]!, key[1]!])
  let addresses = empty()
  let revision = -1

  /** Adds addresses of lists that came, or began again, with the revisions up to this one. */
  const addListed = Effect.fnUntraced(function* (present: number) {
    const lists = yield* read(
      rows(sql<{ readonly id: number }>`
        select id from subscription
        where chain = ${id} and ${wanting} and address is null
          and exists (select 1 from address_list where address_list.subscription = subscription.id)`)
    )
    const wanted = new Set(lists.map((list) => list.id))
    if (wanted.size === 0) return
    for (let after = { revision, id: Number.MAX_SAFE_INTEGER }; ; ) {
      // Those of other lists too, so that each page is short.
      const page = yield* read(
        rows(sql<Pick<Row<"listed_address">, "address" | "id" | "revision" | "subscription">>`
          select id, address, revision, subscription from listed_address
          where chain + 0 = ${id} and revision >= ${after.revision} and revision <= ${present}
            and (revision, id) > (${after.revision}, ${after.id}) and left_revision is null
          order by revision, id limit ${pageSize}`)
      )
      for (const { address, subscription } of page) {
        if (wanted.has(subscription)) addresses.add(address as AddressBytes)
      }
      if (page.length < pageSize) return
      after = page.at(-1)!
      yield* Effect.yieldNow
    }
  })

  const refresh = Effect.gen(function* () {
    const [any] = yield* read(
      rows(sql<{ id: number }>`select id from subscription where chain = ${id} and ${wanting} limit 1`)
    )
    if (any === undefined) {
      addresses = empty()
      revision = -1
      return false
    }
    const present = (yield* row).revision
    if (present === revision) return true
    const added = yield* read(
      rows(sql<Pick<Row<"subscription">, "address">>`
        select address from subscription where chain = ${id} and revision > ${revision} and ${wanting}`)
    )
    for (const { address } of added) if (address !== null) addresses.add(address)
    yield* addListed(present)
    revision = present
    return true
  })

  return {
    chain: id,
    tip: Effect.map(row, ({ hash, height }) => (hash === null || height === null ? undefined : { height, hash })),
    refresh,
    has: (address: AddressBytes) => addresses.has(address),
    remove: (address: AddressBytes) => addresses.remove(address)
  }
})

export const open = Effect.fn("UnconfirmedCoins.open")(function* (chain: Chain.Chain) {
  const database = yield* Database
  const watched = yield* watchedAddresses(chain)

  /** None where the subscription does not mean the transfer. */
  const callbacksOf = (transfer: MempoolTransfer, subscriber: Subscriber, now: number) => {
    const item = Callback.unconfirmedCoinItem(chain, transfer.firstSeen, transfer)
    if (!Filter.passes(readFilter(subscriber.filter), item)) return []
    const transaction = `coin:${Buffer.from(transfer.transactionId).toString("hex")}`
    const { address, address_index, branch, is_listed } = subscriber
    const place = branch === null ? {} : { place: { branch, index: address_index! } }
    const of = { address: address as AddressBytes, isListed: is_listed === 1, ...place }
    const told = ListedOccurrence.of(of, transaction, item)
    return CallbackState.make({
      ...{ subscriber, active: subscriber.active === 1, chain: watched.chain, event: subscriber.event },
      ...{ height: null, now },
      key: { blockHash: undefined, occurrence: told.occurrence, confirmation: 0 },
      item: told.item
    })
  }

  const make = Effect.fnUntraced(function* (transfers: ReadonlyArray<MempoolTransfer>, aheadMillis: number) {
    const now = yield* Clock.currentTimeMillis
    // The chain's lock orders this with changes of subscriptions: none gets a callback that is being removed.
    yield* ChainRow.lock(watched.chain)
    const addresses = new Map(transfers.map(({ address }) => [Bytes.key(address), address]))
    const subscribers = yield* subscribersOf(watched.chain, [...addresses.values()])
    for (const [key, address] of addresses) if (!subscribers.has(key)) watched.remove(address)
    const callbacks = transfers.flatMap((transfer) =>
      (subscribers.get(Bytes.key(transfer.address)) ?? [])
        .filter(({ created }) => transfer.firstSeen * 1000 + aheadMillis >= created * 1000)
        .flatMap((subscriber) => callbacksOf(transfer, subscriber, now))
    )
    yield* CallbackState.enter("added", callbacks)
    return callbacks.length
  })

  return {
    refresh: watched.refresh,
    tip: watched.tip,
    has: watched.has,
    record: Effect.fn("UnconfirmedCoins.record")((transfers, aheadMillis) =>
      transfers.length === 0 ? Effect.succeed(0) : database.transaction(make(transfers, aheadMillis))
    )
  } satisfies UnconfirmedCoins
})
