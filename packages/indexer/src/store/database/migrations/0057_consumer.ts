/** Blocks with their events for programs that embed the indexer, and how far each of these has come. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table consumed_block (
    chain bigint not null,
    number bigint not null,
    left_number bigint,
    height bigint not null,
    hash ${blob} not null,
    parent ${blob} not null,
    time bigint not null,
    content text not null,
    primary key (chain, number)
  )`,
  "create unique index consumed_block_height on consumed_block (chain, height) where left_number is null",
  "create index consumed_block_left on consumed_block (chain, left_number) where left_number is not null",
  `create table consumer (
    id ${serial},
    name text not null,
    chain bigint not null,
    from_height bigint not null,
    position bigint not null,
    told bigint not null,
    height bigint,
    unique (name, chain)
  )`,
  "create index consumer_chain on consumer (chain, position)"
]
