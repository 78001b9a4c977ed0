/** How often accounts have looked for the proof of a domain, by the hour. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table verification_hour (
    account bigint not null,
    hour bigint not null,
    total bigint not null,
    primary key (account, hour)
  ) ${clustered}`
]
