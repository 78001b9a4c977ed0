/** Transactions that subscriptions are for, and that may have been mined before there was the subscription. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  `create table transaction_look (
    subscription bigint primary key,
    chain bigint not null,
    next_look bigint not null,
    absences bigint not null default 0
  )`,
  "create index transaction_look_next on transaction_look (chain, next_look, subscription)",
  "create index subscription_transaction on subscription (chain) where event = 'TRANSACTION_MINED'",
  // An older program would enter blocks without looking for such transactions: their callbacks would be lost.
  "update store_format set oldest_migration = '0079_transaction_look', oldest_program = '0.2.0'"
]
