/** What people and commands changed, and how deliveries went on each of the last days. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table audit_entry (
    id ${serial},
    at bigint not null,
    actor text not null,
    role text not null,
    origin text not null,
    action text not null,
    subject text not null,
    account text,
    outcome text not null,
    detail text,
    times bigint not null default 1,
    repeat_key text unique
  )`,
  "create index audit_entry_at on audit_entry (at)",
  "create index audit_entry_account on audit_entry (account, id)",
  "create index audit_entry_actor on audit_entry (actor, id)",
  `create table delivery_day (
    account bigint not null,
    day bigint not null,
    outcome text not null,
    millis bigint not null,
    attempts bigint not null,
    primary key (account, day, outcome, millis)
  ) ${clustered}`,
  "create index delivery_day_day on delivery_day (day)"
]
