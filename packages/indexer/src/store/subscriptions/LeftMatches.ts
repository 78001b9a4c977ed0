/** What commits have left to steps, for readers that ask what subscriptions are still to be told. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { EventKind } from "@headwater/core/events/EventKinds"
import { type EventType, eventsOfClass } from "@headwater/core/events/EventType"
import type { Occurrence, Subscription } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as ListedOccurrence from "./ListedOccurrence.ts"

/** Something that a block has for an address, without its subscriptions. */
export interface Match {
  readonly class: EventKind["class"]
  readonly occurrence: string
  readonly item: Occurrence<Subscription>["item"]
}

type Encoded = readonly [EventKind["class"], string, Match["item"]]

/** Matches as their row keeps them. */
export const encode = (matches: ReadonlyArray<Match>): string =>
  JSON.stringify(matches.map((match): Encoded => [match.class, match.occurrence, match.item]))

/** Written by {@link encode} only. */
export const decode = (text: string): ReadonlyArray<Match> =>
  (JSON.parse(text) as ReadonlyArray<Encoded>).map(([name, occurrence, item]) => ({ class: name, occurrence, item }))

/** Blocks above `after` and up to `to` with matches of addresses that are left, the lowest first, no more than `limit`. */
export const heights = Effect.fnUntraced(function* (
  chain: number,
  { after, to }: { readonly after: number; readonly to: number },
  limit: number
) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("matched")
      .select("height")
      .distinct()
      .where("chain", "=", chain)
      .where("height", ">", after)
      .where("height", "<=", to)
      .where("address", "is not", null)
      .orderBy("height")
      .limit(limit)
  )
})

/** What a block has left to steps: of addresses, and of the block itself; or of these addresses alone. */
const leftAt = Effect.fnUntraced(function* (chain: number, height: number, only?: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("matched")
      .select(["id", "address", "occurrences", "revision"])
      .where("chain", "=", chain)
      .where("height", "=", height)
      .$if(only !== undefined, (select) => select.where("address", "in", only!))
  )
})

/** The subscriptions to events that steps are still to tell what a row of matches has. */
const owed = Effect.fnUntraced(function* (
  chain: number,
  { address, id, revision }: Pick<Row<"matched">, "address" | "id" | "revision">,
  events: Iterable<EventType>
) {
  const { read } = yield* Database
  const those =
    address === null
      ? sql`(select *, cast(null as bigint) as left_revision, 0 as is_listed from subscription) s where s.address is null`
      : sql`ever_subscribed_address s where s.address = ${address}`
  return yield* read(
    rows(sql<Pick<Row<"subscribed_address">, "event" | "id" | "is_listed">>`
      select s.id, s.event, s.is_listed from ${those}
        and s.chain = ${chain} and s.event in (${sql.join([...events])})
        and exists (
          select 1 from fan_out f where f.matched = ${id} and f.account = s.account
            and (s.id > f.subscription or s.id = f.subscription and f.occurrence > 0)
        )
        and (s.left_revision is null or s.left_revision > ${revision})
        and s.active_from <= ${revision} and (${isMatched("s")} or s.revision > ${revision})`)
  )
})

/** The matches of coins that a block's steps are still to tell of an address, and to which subscriptions, by their ids. */
export const ofCoins = Effect.fnUntraced(function* (chain: number, height: number) {
  const left = (yield* leftAt(chain, height)).flatMap(({ address, ...row }) =>
    address === null ? [] : [{ ...row, address: address as AddressBytes }]
  )
  return yield* Effect.forEach(left, (row) =>
    Effect.map(owed(chain, row, eventsOfClass("coin")), (subscriptions) => ({
      address: row.address,
      matches: decode(row.occurrences).filter((match) => match.class === "coin"),
      subscriptions: subscriptions.map(({ id }) => id)
    }))
  )
})

/** The name of an occurrence among those of all subscriptions. */
export const nameOf = (subscription: number, occurrence: string) => `${subscription} ${occurrence}`

/**
 * Whether steps are still to tell a subscription an occurrence of a block, by the name that the subscription has for that; where
 * `only` is given, of these addresses alone.
 */
export const areTold = Effect.fnUntraced(function* (chain: number, height: number, only?: ReadonlyArray<AddressBytes>) {
  const names = new Set<string>()
  for (const row of yield* leftAt(chain, height, only)) {
    for (const [name, matches] of Map.groupBy(decode(row.occurrences), (match) => match.class)) {
      for (const { id, is_listed } of yield* owed(chain, row, eventsOfClass(name))) {
        const subscriber = {
          address: (row.address ?? undefined) as AddressBytes | undefined,
          isListed: is_listed === 1
        }
        for (const { occurrence } of matches) names.add(nameOf(id, ListedOccurrence.nameFor(subscriber, occurrence)))
      }
    }
  }
  return (subscription: number, occurrence: string) => names.has(nameOf(subscription, occurrence))
})
