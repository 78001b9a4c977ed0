/** The subscriptions that steps behind a commit are still to tell what has happened at an address, or of a block. */
import type { EventType } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as ListedOccurrence from "../ListedOccurrence.ts"
import { columns, type SubscriberRow } from "../Subscribers.ts"

/**
 * Those of an account that a committed block was matched against, from the first that lacks callbacks, in the order of
 * their ids.
 */
export const read = Effect.fnUntraced(function* (
  { address, chain, revision }: Pick<Row<"matched">, "address" | "chain" | "revision">,
  { account, occurrence, subscription }: Pick<Row<"fan_out">, "account" | "occurrence" | "subscription">,
  events: ReadonlyArray<EventType>,
  limit: number
) {
  const { query } = yield* Database
  const first = occurrence > 0 ? subscription : subscription + 1
  const own = sql.raw(columns.map((column) => `s.${column}`).join(", "))
  // A sum, so that no planner reads all that the account has: the index of such sums knows the address too.
  const isOwed = sql`
    s.chain = ${chain} and s.account + 0 = ${account} and s.event in (${sql.join(events)}) and s.id >= ${first}
    and s.active_from <= ${revision} and (${isMatched("s")} or s.revision > ${revision})`
  return yield* query(
    rows(
      address === null
        ? sql<SubscriberRow>`
            select ${own} from subscription s
            where s.address is null and s.chain + 0 = ${chain} and ${isOwed} order by s.id limit ${limit}`
        : sql<SubscriberRow>`
            select ${own}, s.is_listed, ${sql.raw(ListedOccurrence.placeText("s"))} from ever_subscribed_address s
            where s.address = ${address} and (s.left_revision is null or s.left_revision > ${revision}) and ${isOwed}
            order by s.id limit ${limit}`
    )
  )
})
