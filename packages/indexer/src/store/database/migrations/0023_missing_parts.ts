/** Parts of committed blocks that no node has given yet: a row for each range of blocks, in place of one for each block. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table missing_parts (
    chain bigint not null,
    part text not null,
    from_height bigint not null,
    to_height bigint not null,
    reason text not null,
    primary key (chain, part, from_height)
  ) ${clustered}`,
  `insert into missing_parts (chain, part, from_height, to_height, reason)
    select chain, part, min(height), max(height), max(reason) from (
      select chain, part, height, reason,
        height - row_number() over (partition by chain, part order by height) as run
      from missing_part
    ) as one group by chain, part, run`,
  "drop table missing_part",
  // An older program would write a row for each block into a table that is gone.
  "update store_format set oldest_migration = '0023_missing_parts', oldest_program = '0.2.0'"
]
