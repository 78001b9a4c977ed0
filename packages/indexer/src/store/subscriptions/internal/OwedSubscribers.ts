/** The subscriptions that steps behind a commit are still to tell what has happened at addresses, or of blocks. */
import type { EventType } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { matchedText } from "../../chain/MatchedSubscriptions.ts"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as ListedOccurrence from "../ListedOccurrence.ts"
import { columns, type SubscriberRow } from "../Subscribers.ts"

/** What has happened, as which events, and which of an account's subscriptions is the first that lacks callbacks of that. */
export interface Turn extends Pick<Row<"fan_out">, "account" | "chain" | "matched" | "occurrence" | "subscription"> {
  readonly match: Pick<Row<"matched">, "address" | "revision"> & { readonly events: ReadonlyArray<EventType> }
}

/** Subscribers, in the order of their ids, and whether there are no others. */
export interface Owed {
  readonly subscribers: ReadonlyArray<SubscriberRow>
  readonly isAll: boolean
}

type Found = SubscriberRow & Pick<Turn, "matched">

const ofTurn = { chain: "bigint", account: "bigint", matched: "bigint", first: "bigint", revision: "bigint" } as const

const own = `:matched as matched, ${columns.map((column) => `s.${column}`).join(", ")}`

/** Those of each turn that the block was matched against, `limit` of each; the turns are of the same events. */
const read = Effect.fnUntraced(function* (turns: ReadonlyArray<Turn>, limit: number) {
  const { selectEach } = yield* Database
  const [first] = turns
  if (first === undefined) return []
  const isOwed = `
    s.account + 0 = :account and s.id >= :first
    and s.event in (${first.match.events.map((event) => `'${event}'`).join(", ")})
    and s.active_from <= :revision and (${matchedText("s")} or s.revision > :revision)`
  // Sums, and no column alone: the index of such sums knows account and address, those of the columns one of both.
  const isOwn = `s.chain + 0 = :chain and ${isOwed}`
  const asked = turns.map(({ account, chain, match: { address, revision }, matched, occurrence, subscription }) => ({
    ...{ account, chain, matched, address, revision },
    first: occurrence > 0 ? subscription : subscription + 1
  }))
  const toldOfBlocks = yield* selectEach<Found>(
    ofTurn,
    asked.filter(({ address }) => address === null),
    `select ${own} from subscription s where s.address is null and ${isOwn} order by s.id limit ${limit}`
  )
  const toldOfAddresses = yield* selectEach<Found>(
    { ...ofTurn, address: "bytea" },
    asked.filter(({ address }) => address !== null),
    `select ${own}, 0 as is_listed, null as branch, null as address_index
     from subscription s where s.address = :address and ${isOwn}
     union all
     select ${own}, s.is_listed, ${ListedOccurrence.placeText("s")} from ever_subscribed_address s
     where s.is_listed = 1 and s.chain = :chain and s.address = :address
       and (s.left_revision is null or s.left_revision > :revision) and ${isOwed}
     order by id limit ${limit}`
  )
  return [...toldOfBlocks, ...toldOfAddresses]
})

/** The first of those that a turn's account has, no more than `limit`. */
export const first = (turn: Turn, limit: number) =>
  Effect.map(read([turn], limit), (subscribers): Owed => ({ subscribers, isAll: subscribers.length < limit }))

/** Those of each turn, by its match, where they are fewer than `limit`: of many addresses together. */
export const few = Effect.fnUntraced(function* (turns: ReadonlyArray<Turn>, limit: number) {
  const owed = new Map<number, Owed>()
  for (const alike of Map.groupBy(turns, ({ match }) => match.events.join()).values()) {
    const byMatch = Map.groupBy(yield* read(alike, limit), ({ matched }) => matched)
    for (const { matched } of alike) {
      const subscribers = byMatch.get(matched) ?? []
      if (subscribers.length < limit) owed.set(matched, { subscribers, isAll: true })
    }
  }
  return owed
})
