/** What prepared and broadcast transactions may take of their senders: others that are prepared have that much less to spend. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table reserved_coin add column cost text not null default '0'",
  "alter table broadcast add column cost text"
]
