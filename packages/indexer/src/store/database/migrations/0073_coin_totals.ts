/** Sums of the coins of addresses with a long history, up to a block: the next sum begins behind that. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table coin_total (
    chain bigint not null,
    address ${blob} not null,
    height bigint not null,
    received text not null,
    spent text not null,
    primary key (chain, address)
  ) ${clustered}`,
  "alter table chain add column coin_changes bigint not null default 0",
  // An older program would undo blocks and leave the sums.
  "update store_format set oldest_migration = '0073_coin_totals', oldest_program = '0.2.0'"
]
