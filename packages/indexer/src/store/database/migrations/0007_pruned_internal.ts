/** The sums of internal transactions that are no longer kept one by one. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table pruned_internal (
    chain bigint not null,
    address ${blob} not null,
    received text not null,
    spent text not null,
    primary key (chain, address)
  ) ${clustered}`
]
