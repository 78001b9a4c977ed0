/** How far callbacks of a subscription are sent again, where its account has asked for that. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  `create table recovery (
    subscription bigint primary key,
    account bigint not null,
    after bigint not null,
    last bigint not null,
    since bigint not null,
    callbacks bigint not null
  )`
]
