/** What each account has left of its rate, for the daemons that share a store. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table rate_bucket (
    account bigint not null primary key,
    tokens double precision not null,
    at bigint not null
  ) ${clustered}`
]
