/** What blocks have for addresses with many subscriptions, of which callbacks are written in small steps. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table matched (
    id ${serial},
    chain bigint not null,
    height bigint not null,
    block_hash ${blob} not null,
    address ${blob},
    revision bigint not null,
    created bigint not null,
    occurrences text not null
  )`,
  "create index matched_address on matched (chain, address, height)",
  "create index matched_height on matched (chain, height)",
  `create table fan_out (
    chain bigint not null,
    account bigint not null,
    matched bigint not null,
    subscription bigint not null,
    occurrence bigint not null,
    primary key (chain, account, matched)
  ) ${clustered}`,
  "create index fan_out_matched on fan_out (matched)",
  "alter table subscription add column active_from bigint not null default 0",
  "alter table waiting add column account bigint not null default 0",
  "drop index waiting_due",
  "create index waiting_due on waiting (chain, due_height, account)",
  "create index waiting_turn on waiting (chain, account, due_height, height, id)",
  // An older program would write no callbacks for what a newer one has left to the steps.
  "update store_format set oldest_migration = '0025_fan_out', oldest_program = '0.2.0'"
]
