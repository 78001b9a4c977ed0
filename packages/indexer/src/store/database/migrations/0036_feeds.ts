/** Positions of callbacks in the feed of their account, and the epoch of the store, which a restore changes. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  "alter table callback add column feed_position bigint",
  "create index callback_placed on callback (account, feed_position) where feed_position is not null",
  "create index callback_unplaced on callback (account, id) where feed_position is null",
  `create table account_feed (
    account bigint not null primary key,
    last_position bigint not null
  ) ${clustered}`,
  `create table store_epoch (
    id bigint not null primary key,
    epoch text not null,
    identity text not null
  ) ${clustered}`
]
