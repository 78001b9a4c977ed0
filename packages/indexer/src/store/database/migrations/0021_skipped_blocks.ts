/** Ranges of blocks that an operator has given up, since no node had them any more. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table skipped_blocks (
    chain bigint not null,
    from_height bigint not null,
    to_height bigint not null,
    at bigint not null,
    primary key (chain, from_height)
  ) ${clustered}`
]
