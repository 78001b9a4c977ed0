/** The subscriptions of one chain that a block may concern. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { EventKind } from "@headwater/core/events/EventKinds"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { type EventType, eventsOfClass } from "@headwater/core/events/EventType"
import * as Filter from "@headwater/core/events/Filter"
import type { Candidates, Occurrence, Subscription } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import * as TimeSlice from "../../TimeSlice.ts"
import { isMatched, matchedText } from "../chain/MatchedSubscriptions.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as ListedOccurrence from "./ListedOccurrence.ts"
import type { Subscriber } from "./PendingConfirmations.ts"
import { readFilter } from "./Subscription.ts"

const blockEvents = [...eventsOfClass("block")]

/** What names a subscriber in its callbacks. */
export const columns = [
  "id",
  "account",
  "reference_id",
  "host",
  "event",
  "confirmations",
  "address",
  "active",
  "filter"
] as const
const listedColumns = [...columns, "is_listed"] as const

const matchedHere = isMatched("subscribed_address")

export type SubscriberRow = Pick<Row<"subscription">, (typeof columns)[number]> &
  Partial<Pick<Row<"subscribed_address">, "is_listed"> & Pick<Row<"listed_address">, "branch" | "address_index">>

/** A subscription as its callbacks name it, from its row. */
export const toSubscriber = (row: SubscriberRow): Subscriber => ({
  id: row.id,
  account: row.account,
  reference_id: row.reference_id,
  host: row.host,
  event: row.event,
  confirmations: row.confirmations,
  active: row.active === 1,
  isListed: row.is_listed === 1,
  filter: readFilter(row.filter),
  address: (row.address ?? undefined) as AddressBytes | undefined,
  place: row.branch == null ? undefined : { branch: row.branch, index: row.address_index! }
})

/** The subscriptions to an event class of one address, to one transaction, or to blocks, as the matcher sees them: as one. */
export interface Group extends Subscription {
  /** The hex of the address or of the transaction's id; empty for blocks. */
  readonly key: string
  readonly class: EventKind["class"]
  /** Undefined where they are more than were asked for. */
  readonly subscribers: ReadonlyArray<Subscriber> | undefined
}

const groupsOf = (
  key: string,
  address: AddressBytes | undefined,
  subscribers: ReadonlyArray<Subscriber>
): ReadonlyArray<Group> => {
  const groups: Array<Group & { readonly subscribers: Array<Subscriber> }> = []
  for (const subscriber of subscribers) {
    const { event } = subscriber
    const { class: name, seenIn } = eventKinds[event]
    if (seenIn !== "block") continue
    const group = groups.find((one) => one.class === name)
    if (group === undefined) groups.push({ key, class: name, address, event, subscribers: [subscriber] })
    else group.subscribers.push(subscriber)
  }
  return groups
}

/** A group for each class of these events, whose subscriptions are too many. */
const groupsOfMany = (
  key: string,
  address: AddressBytes | undefined,
  events: ReadonlyArray<EventType>
): ReadonlyArray<Group> => {
  const inBlocks = events.filter((event) => eventKinds[event].seenIn === "block")
  return [...Map.groupBy(inBlocks, (event) => eventKinds[event].class)].map(([name, own]) => ({
    ...{ key, class: name, address, event: own[0]!, subscribers: undefined }
  }))
}

/**
 * The groups of addresses, and those of transactions, apart. An address without a group is among the addresses too: somebody
 * wants to know of its unconfirmed coins.
 */
const byTarget = (byKey: ReadonlyMap<string, ReadonlyArray<Group>>) => {
  const byAddress = new Map<string, ReadonlyArray<Group>>()
  const byTransaction = new Map<string, ReadonlyArray<Group>>()
  for (const [key, groups] of byKey) {
    const ofTransaction = groups.filter((group) => group.class === "transaction")
    if (ofTransaction.length > 0) byTransaction.set(key, ofTransaction)
    const ofAddress = groups.filter((group) => group.class !== "transaction")
    if (ofAddress.length > 0 || groups.length === 0) byAddress.set(key, ofAddress)
  }
  return { byAddress, byTransaction }
}

/** What was found of groups, for some of their subscribers alone. */
export const ofThese = <A extends { readonly subscription: Group }>(
  found: ReadonlyArray<A>,
  isOne: (subscriber: Subscriber) => boolean
): ReadonlyArray<A> =>
  found.flatMap((one) => {
    const subscribers = one.subscription.subscribers?.filter(isOne) ?? []
    return subscribers.length === 0 ? [] : [{ ...one, subscription: { ...one.subscription, subscribers } }]
  })

/** Takes what was found of groups for each of their subscriptions, in the order of the groups and in that of the ids. */
export const expand = <A extends { readonly subscription: Group }>(found: ReadonlyArray<A>) =>
  found.flatMap((one) => (one.subscription.subscribers ?? []).map((subscription) => ({ ...one, subscription })))

function* toldOfEach(
  chain: Chain,
  found: ReadonlyArray<Occurrence<Group>>
): Generator<void, ReadonlyArray<Occurrence<Subscriber>>> {
  const all: Array<Occurrence<Subscriber>> = []
  for (const { item, occurrence, subscription: group } of found) {
    for (const subscription of group.subscribers ?? []) {
      // A log may take a tenth of a millisecond to decode.
      if (subscription.filter !== undefined) yield
      const own = Filter.told(chain, subscription.filter, item)
      if (own !== undefined) all.push({ subscription, ...ListedOccurrence.of(subscription, occurrence, own) })
    }
  }
  return all
}

/** As {@link expand}, of those that each subscription means, as it is told of them; in a transaction. */
export const told = (chain: Chain, found: ReadonlyArray<Occurrence<Group>>) =>
  TimeSlice.runInTransaction(() => toldOfEach(chain, found))

/** A lookup in the subscriptions of the chain that has this number in the store, in a transaction that has its lock. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { read, selectEach } = yield* Database
  const subscribed = (db: Kysely<Tables>) =>
    db
      .selectFrom("subscribed_address")
      .select(listedColumns)
      .select(ListedOccurrence.placeColumns("subscribed_address"))
      .where("chain", "=", chain)
      .where(matchedHere)
      .orderBy("id")
  /** The subscriptions to blocks, which change with the chain's revision alone, and not with what a commit itself adds. */
  let toBlocks: { readonly revision: number; readonly most: number; readonly groups: ReadonlyArray<Group> } | undefined

  const blockMined = Effect.fnUntraced(function* (revision: number, most: number) {
    if (toBlocks?.revision !== revision || toBlocks.most !== most) {
      const rows = yield* read((db) => {
        const all = db
          .selectFrom("subscription")
          .select(columns)
          .where("chain", "=", chain)
          .where(isMatched())
          .where("event", "in", blockEvents)
          .where("address", "is", null)
          .orderBy("id")
        return Number.isFinite(most) ? all.limit(most + 1) : all
      })
      const groups =
        rows.length > most ? groupsOfMany("", undefined, blockEvents) : groupsOf("", undefined, rows.map(toSubscriber))
      toBlocks = { revision, most, groups }
    }
    return toBlocks.groups
  })

  /** The first subscriptions of each address, one more than `most`. */
  const firstOfEach = Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>, most: number) {
    return yield* selectEach<SubscriberRow>(
      { address: "bytea" },
      addresses.map((address) => ({ address })),
      `select ${listedColumns.join(", ")}, ${ListedOccurrence.placeText("subscribed_address")} from subscribed_address
       where chain = ${chain} and address = :address and ${matchedText("subscribed_address")} order by id limit ${most + 1}`
    )
  })

  const ofAddresses = Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>, most: number) {
    if (!Number.isFinite(most)) return yield* read((db) => subscribed(db).where("address", "in", addresses))
    const limit = most * 10
    const found = yield* read((db) =>
      subscribed(db)
        .where("address", "in", addresses)
        .limit(limit + 1)
    )
    return found.length <= limit ? found : yield* firstOfEach(addresses, most)
  })

  const eventsOf = Effect.fnUntraced(function* (address: AddressBytes) {
    const found = yield* read(
      rows(sql<{ event: EventType }>`
        select distinct event from subscribed_address
        where chain = ${chain} and address = ${address} and ${matchedHere}`)
    )
    return found.map(({ event }) => event)
  })

  /**
   * Those for every block, and those for one of the addresses, or transactions, that are seen; `foundRevision` as in `Entering`. Of
   * an address with more than `most` of them, none is listed.
   */
  const all = Effect.fnUntraced(function* (
    foundRevision: number,
    seen: ReadonlyMap<string, AddressBytes>,
    most: number
  ) {
    const found = yield* inChunks([...seen.values()], (some) => ofAddresses(some, most))
    const byKey = new Map<string, ReadonlyArray<Group>>()
    for (const [key, subscribers] of Map.groupBy(found.map(toSubscriber), ({ address }) => Bytes.hex(address!))) {
      const address = seen.get(key)!
      byKey.set(
        key,
        subscribers.length > most
          ? groupsOfMany(key, address, yield* eventsOf(address))
          : groupsOf(key, address, subscribers)
      )
    }
    return { blockMined: yield* blockMined(foundRevision, most), ...byTarget(byKey) } satisfies Omit<
      Candidates<Group>,
      "metadata"
    >
  })

  /** Those of the subscriptions with these ids alone that are for one of the addresses. */
  const only = Effect.fnUntraced(function* (seen: ReadonlyMap<string, AddressBytes>, ids: ReadonlyArray<number>) {
    const found = yield* inChunks([...seen.values()], (some) =>
      read((db) => subscribed(db).where("address", "in", some).where("id", "in", ids))
    )
    const byAddress = new Map(
      [...Map.groupBy(found.map(toSubscriber), ({ address }) => Bytes.hex(address!))].map(
        ([key, subscribers]) => [key, groupsOf(key, seen.get(key), subscribers)] as const
      )
    )
    return { blockMined: [], byAddress } satisfies Omit<Candidates<Group>, "metadata">
  })

  return { all, only }
})
