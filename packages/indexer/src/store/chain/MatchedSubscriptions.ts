/** Which subscriptions blocks are matched against: active ones, and inactive ones whose callbacks are parked. */
import { type RawBuilder, sql } from "kysely"

/**
 * The condition as the text of a statement that calls subscriptions by this name, in the words of the index
 * `subscription_unconfirmed`.
 */
export const matchedText = (table = "subscription") => `${table}.active + ${table}.parking = 1`

/** The same as a part of a statement. */
export const isMatched = (table?: string): RawBuilder<boolean> => sql<boolean>`${sql.raw(matchedText(table))}`
