/** HD wallets of account chains that accounts have synced; their addresses are synced addresses. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ serial }: ColumnTypes): ReadonlyArray<string> => [
  "alter table synced_address add column wallet bigint not null default 0",
  "drop index synced_address_identity",
  "create unique index synced_address_identity on synced_address (account, chain, address, wallet)",
  "create index synced_address_wallet on synced_address (wallet)",
  `create table synced_wallet (
    id ${serial},
    account bigint not null,
    chain bigint not null,
    public_key text not null,
    derivation text not null,
    active bigint not null,
    created bigint not null,
    birth bigint not null
  )`,
  "create unique index synced_wallet_identity on synced_wallet (account, chain, public_key, derivation)"
]
