/** What is to be sent again of each account of a host: one account's backlog hid the callbacks of the others. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "create index callback_retry_turn on callback (host, account, due) where state = 'due' and attempts > 0 and account >= 0"
]
