/** How many callbacks of an account wait, without a look at all that it was ever sent. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "create index callback_waiting on callback (account) where (state = 'due' or state = 'held') and leased_until >= 0"
]
