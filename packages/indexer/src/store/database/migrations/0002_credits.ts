/** The credit ledger, how far the daily charges have come, and counts that keep subscription lists fast. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ serial, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table credit_balance (
    account bigint primary key,
    balance bigint not null,
    check (balance >= 0)
  )`,
  `create table credit_entry (
    id ${serial},
    account bigint not null,
    entry_key text not null unique,
    at bigint not null,
    kind text not null,
    amount bigint not null,
    results bigint not null,
    detail text not null
  )`,
  `create index credit_entry_statement on credit_entry (account, id)`,
  `create table credit_day (
    id bigint primary key,
    day bigint not null
  )`,
  `create table subscription_count (
    account bigint not null,
    chain bigint not null,
    total bigint not null,
    primary key (account, chain)
  ) ${clustered}`,
  `insert into subscription_count (account, chain, total)
    select account, chain, count(*) from subscription group by account, chain`,
  `create index subscription_same on subscription (account, chain, event, address, confirmations)`,
  `create index subscription_daily on subscription (active, account, chain, created)`
]
