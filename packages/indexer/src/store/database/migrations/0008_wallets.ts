/** HD wallets with their addresses and balances, and a quick way to the subscriptions for unconfirmed coins. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table wallet (
    id ${serial},
    account bigint not null,
    chain bigint not null,
    public_key text not null,
    derivation text not null,
    format text not null,
    created bigint not null,
    balance text not null,
    state text not null,
    scan_height bigint
  )`,
  `create unique index wallet_identity on wallet (account, chain, public_key, derivation, format)`,
  `create index wallet_state on wallet (chain, state)`,
  `create table wallet_address (
    id ${serial},
    wallet bigint not null,
    chain bigint not null,
    branch bigint not null,
    address_index bigint not null,
    address ${blob} not null,
    revision bigint not null,
    since bigint,
    scanned bigint not null,
    used_height bigint,
    requested bigint
  )`,
  `create unique index wallet_address_index on wallet_address (wallet, branch, address_index)`,
  `create index wallet_address_watch on wallet_address (chain, address)`,
  `create index wallet_address_revision on wallet_address (chain, revision)`,
  `create index wallet_address_since on wallet_address (chain, since)`,
  `create index wallet_address_used on wallet_address (chain, used_height) where used_height is not null`,
  `create index subscription_unconfirmed on subscription (chain, revision)
    where event = 'ADDRESS_COINS_TRANSACTION_UNCONFIRMED' and active = 1`
]
