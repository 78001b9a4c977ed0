/** Blocks that have left the chain, whose callbacks and pending confirmations are still to be taken back in small steps. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table undone_block (
    id ${serial},
    chain bigint not null,
    height bigint not null,
    hash ${blob},
    time bigint not null,
    tip ${blob} not null,
    revision bigint not null,
    rewound bigint not null,
    callbacks_before bigint not null,
    pending_before bigint not null,
    at bigint not null
  )`,
  "create index undone_block_height on undone_block (chain, height)",
  `create table undoing (
    chain bigint not null,
    account bigint not null,
    undone bigint not null,
    subscription bigint,
    callback bigint not null,
    primary key (chain, account, undone)
  ) ${clustered}`,
  "create index undoing_undone on undoing (undone)",
  // What an account has of a block, without a look at what others have, the newest first.
  "create index callback_block on callback (chain, height, account, id)",
  "drop index callback_height",
  "create index waiting_block on waiting (chain, height, account)",
  "drop index waiting_height",
  "alter table chain drop column undo_to",
  // An older program would send the pending confirmations of these blocks.
  "update store_format set oldest_migration = '0049_undone_blocks', oldest_program = '0.2.0'"
]
