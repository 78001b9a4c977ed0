/** How far a replay of a chain has come. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table replay (
    chain bigint not null primary key,
    from_height bigint not null,
    to_height bigint not null,
    next_height bigint not null,
    callbacks bigint not null
  ) ${clustered}`
]
