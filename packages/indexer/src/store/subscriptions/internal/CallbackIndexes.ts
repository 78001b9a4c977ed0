/**
 * The partial indexes of callbacks, as conditions. Planners use such an index only where they see its condition: states
 * and counts are literals, never parameters.
 */
import { type RawBuilder, sql } from "kysely"
import type { Row } from "../../database/Tables.ts"

/** Due and never sent: the index `callback_first`, by host, subscription and id. */
export const unsent = sql`state = 'due' and attempts = 0`
/**
 * The same by host, account and subscription, in the index `callback_turn`. That accounts have a number is said for
 * planners alone: statements that do not name the account are to take the other index.
 */
export const unsentOfAccounts = sql`${unsent} and account >= 0`
/** Due and sent before: the index `callback_retry`, by host, time and subscription. */
export const retried = sql`state = 'due' and attempts > 0`
/** The same by host, account and time, in the index `callback_retry_turn`; what is said of accounts is for planners alone. */
export const retriedOfAccounts = sql`${retried} and account >= 0`
/** To be sent, or parked: the index `callback_waiting`, by account; what is said of the time is for planners alone, as above. */
export const waiting = sql`(state = 'due' or state = 'held') and created >= 0`
/** Parked: the index `callback_held`, by subscription and id. */
export const parked = sql`state = 'held'`

/**
 * What is due of one subscription, by a condition for each of the two indexes. In the second the subscription is an
 * expression, or SQLite would take the index of the feed, and with it read all that was ever sent.
 */
export const dueOf = ({ host, id }: Pick<Row<"subscription">, "id" | "host">): ReadonlyArray<RawBuilder<unknown>> => [
  sql`${unsent} and host = ${host} and subscription = ${id}`,
  sql`${retried} and host = ${host} and subscription + 0 = ${id}`
]
