/** What is known of each watched address since which block, and the events whose inputs are not known. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  "alter table chain add column all_from bigint",
  `create table completeness (
    chain bigint not null,
    address ${blob} not null,
    coins bigint,
    tokens bigint,
    history bigint,
    primary key (chain, address)
  ) ${clustered}`,
  "create index completeness_history on completeness (chain, history)",
  "create index completeness_coins on completeness (chain, coins) where coins is not null",
  // Addresses whose coins are yet to be looked for.
  "create index completeness_unproved on completeness (chain, address) where coins is null",
  `create table unresolved_event (
    chain bigint not null,
    height bigint not null,
    transaction_id ${blob} not null,
    address ${blob} not null,
    reason text not null,
    primary key (chain, height, transaction_id, address)
  ) ${clustered}`,
  "create index unresolved_event_address on unresolved_event (chain, address)",
  // Addresses that were watched before are complete from now on.
  `insert into background_migration (name, position, last)
    select 'completeness of subscriptions', 0, max(id) from subscription having max(id) is not null`,
  `insert into background_migration (name, position, last)
    select 'completeness of wallets', 0, max(id) from wallet_address having max(id) is not null`,
  // An older program would watch addresses anew without a word about the gap.
  "update store_format set oldest_migration = '0012_completeness', oldest_program = '0.2.0'"
]
