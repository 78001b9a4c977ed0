/** Subscriptions that blocks are matched against no more, by the first block that they have missed: an undo goes below that. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "create index subscription_gap on subscription (chain, gap_from) where gap_from is not null"
]
