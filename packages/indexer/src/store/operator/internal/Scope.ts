/** Whose rows are shown: those of one account, by its id, or of all where there is none. */
import { type RawBuilder, sql } from "kysely"

export type Scope = number | undefined

/** A condition on a column that names an account, to be put behind others; none for all accounts. */
export const and = (scope: Scope, column: string): RawBuilder<unknown> =>
  scope === undefined ? sql`` : sql`and ${sql.ref(column)} = ${scope}`

/**
 * As {@link and}, where the index of another condition is to be taken: an account may have a million rows. No index is by this
 * expression; one of subscriptions is by `account + 0`.
 */
export const filter = (scope: Scope, column: string): RawBuilder<unknown> =>
  scope === undefined ? sql`` : sql`and +${sql.ref(column)} = ${scope}`
