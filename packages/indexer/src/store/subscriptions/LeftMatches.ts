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

/** The matches of one class that a block's steps are still to tell of an address, and to which subscriptions, by their ids. */
export const of = Effect.fnUntraced(function* (chain: number, height: number, name: Match["class"]) {
  const { read } = yield* Database
  const left = yield* read((db) =>
    db
      .selectFrom("matched")
      .select(["id", "address", "occurrences", "revision"])
      .where("chain", "=", chain)
      .where("height", "=", height)
      .where("address", "is not", null)
  )
  const events: ReadonlyArray<EventType> = [...eventsOfClass(name)]
  return yield* Effect.forEach(left, ({ address, id, occurrences, revision }) =>
    Effect.map(
      read(
        rows(sql<{ id: number }>`
          select s.id from ever_subscribed_address s
          where s.chain = ${chain} and s.address = ${address} and s.event in (${sql.join(events)})
            and exists (
              select 1 from fan_out f where f.matched = ${id} and f.account = s.account
                and (s.id > f.subscription or s.id = f.subscription and f.occurrence > 0)
            )
            and (s.left_revision is null or s.left_revision > ${revision})
            and s.active_from <= ${revision} and (${isMatched("s")} or s.revision > ${revision})`)
      ),
      (subscriptions) => ({
        address: address as AddressBytes,
        matches: decode(occurrences).filter((match) => match.class === name),
        subscriptions: subscriptions.map(({ id }) => id)
      })
    )
  )
})
