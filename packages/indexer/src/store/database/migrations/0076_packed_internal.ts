/**
 * On PostgreSQL internal transactions in a table of their own, which has partitions by chain and height: retention drops what is
 * kept no longer. What stands among the other transfers stays there for its 14 days.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

const partitioned: ReadonlyArray<string> = [
  `create table packed_internal (
    log bigint not null,
    position bigint not null,
    data bytea not null
  ) partition by range (log, position)`,
  // PostgreSQL would try to compress hashes.
  "alter table packed_internal alter column data set storage external",
  "create table packed_internal_default partition of packed_internal default",
  // Each partition has an index of its own: what it inherited, a dump could not be put back in place of.
  "create unique index packed_internal_default_key on packed_internal_default (log, position)",
  `create table internal_partition (
    chain bigint not null,
    from_height bigint not null,
    to_height bigint not null,
    primary key (chain, from_height)
  )`,
  // An older program would read the record without the new rows.
  "update store_format set oldest_migration = '0076_packed_internal', oldest_program = '0.2.0'"
]

export const up = (types: ColumnTypes): ReadonlyArray<string> => (types.partitioned ? partitioned : [])
