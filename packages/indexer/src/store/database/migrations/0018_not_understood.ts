/** Transactions of committed blocks that were not understood in full. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table not_understood (
    chain bigint not null,
    height bigint not null,
    position bigint not null,
    transaction_id ${blob},
    reason text not null,
    transfers bigint not null,
    raw text not null,
    primary key (chain, height, position)
  ) ${clustered}`
]
