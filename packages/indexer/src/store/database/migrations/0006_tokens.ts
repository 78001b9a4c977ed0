/** What token contracts say of themselves. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table token (
    chain bigint not null,
    contract ${blob} not null,
    name text not null,
    symbol text not null,
    decimals bigint,
    height bigint not null,
    primary key (chain, contract)
  ) ${clustered}`
]
