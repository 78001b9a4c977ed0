/** Coins of prepared transactions, which no other preparation uses for a while. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob }: ColumnTypes): ReadonlyArray<string> => [
  `create table reserved_coin (
    account bigint not null,
    chain bigint not null,
    source ${blob} not null,
    number bigint not null,
    until bigint not null,
    primary key (account, chain, source, number)
  )`,
  "create index reserved_coin_until on reserved_coin (until)"
]
