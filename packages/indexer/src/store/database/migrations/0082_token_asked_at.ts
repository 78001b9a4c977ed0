/** When a node was asked for a token contract last: one that says no decimals is asked for again, and not with every block. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table token add column asked_at bigint not null default 0"
]
