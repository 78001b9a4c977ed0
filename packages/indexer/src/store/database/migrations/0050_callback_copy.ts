/** Subscriptions whose callbacks are sent to another URL too, and how far that is. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table callback_copy (
    id ${serial},
    subscription bigint not null unique,
    account bigint not null,
    callback_url text not null,
    after bigint not null,
    last bigint not null,
    since bigint not null,
    callbacks bigint not null default 0,
    attempts bigint not null default 0,
    due bigint not null,
    leased_until bigint not null default 0,
    begun bigint not null,
    generation bigint not null default 0,
    stopped bigint not null default 0,
    error text
  )`,
  "create index callback_copy_due on callback_copy (stopped, due)",
  "create index callback_copy_account on callback_copy (account, leased_until)"
]
