/**
 * Subscriptions that are for a transaction. Their rows have its id where others have an address: both are looked for in blocks
 * in the same way. What asks for addresses alone leaves these out.
 */
import type { EventType } from "@headwater/core/events/EventType"
import { type RawBuilder, sql } from "kysely"

/** The one event of theirs: the literal in the index `subscription_transaction`. */
export const transactionEvent = "TRANSACTION_MINED" satisfies EventType

/** Whether a row of subscriptions has the id of a transaction. */
export const isOfTransaction = ({ event }: { readonly event: string }): boolean => event === transactionEvent

/** Whether subscriptions that a statement calls by this name are for addresses, or for blocks. */
export const isNotOfTransaction = (table: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(table)}.event <> ${sql.lit(transactionEvent)}`
