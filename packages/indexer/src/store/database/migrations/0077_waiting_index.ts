/** The callbacks of an account that wait, in an index whose condition names nothing that a lease changes: each lease wrote it anew. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "drop index callback_waiting",
  "create index callback_waiting on callback (account) where (state = 'due' or state = 'held') and created >= 0",
  // An older program would read every callback to count those that wait.
  "update store_format set oldest_migration = '0077_waiting_index', oldest_program = '0.2.0'"
]
