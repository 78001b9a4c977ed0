/** Single addresses that accounts have synced, and how far the past of each has been read. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table synced_address (
    id ${serial},
    account bigint not null,
    chain bigint not null,
    address ${blob} not null,
    revision bigint not null,
    active bigint not null,
    created bigint not null,
    callback_url text,
    birth bigint not null,
    next_height bigint not null,
    last_height bigint not null,
    state text not null
  )`,
  "create unique index synced_address_identity on synced_address (account, chain, address)",
  "create index synced_address_watch on synced_address (chain, address) where active = 1",
  "create index synced_address_revision on synced_address (chain, revision)",
  "create index synced_address_state on synced_address (chain, state) where active = 1"
]
