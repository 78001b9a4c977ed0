/** What is taken back or removed in small steps, and is not done yet. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  // Ids of subscriptions that are gone, whose callbacks are not.
  "create table removed_subscription (id bigint primary key)",
  "alter table chain add column undo_to bigint"
]
