/** Parts of committed blocks that no node has given yet. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table missing_part (
    chain bigint not null,
    height bigint not null,
    part text not null,
    reason text not null,
    primary key (chain, height, part)
  ) ${clustered}`
]
