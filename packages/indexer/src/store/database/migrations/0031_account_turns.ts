/**
 * The account of each callback, so that the accounts that share a host have their turns there. Callbacks of before keep 0,
 * which has a turn of its own.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table callback add column account bigint not null default 0",
  "create index callback_turn on callback (host, account, subscription) where state = 'due' and attempts = 0 and account >= 0"
]
