/** Chains and their blocks, accounts and keys, subscriptions, pending confirmations and callbacks, the UTXO set. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table chain (
    id ${serial},
    name text not null unique,
    height bigint,
    hash ${blob},
    final_height bigint,
    first_height bigint,
    revision bigint not null default 0
  )`,
  `create table block (
    chain bigint not null,
    height bigint not null,
    hash ${blob} not null,
    parent ${blob} not null,
    time bigint not null,
    primary key (chain, height)
  ) ${clustered}`,
  `create table reorganisation (
    id ${serial},
    chain bigint not null,
    at bigint not null,
    fork_height bigint not null,
    depth bigint not null,
    old_hash ${blob} not null
  )`,
  `create table account (
    id ${serial},
    name text not null unique,
    created bigint not null,
    retractions bigint not null default 0
  )`,
  `create table api_key (
    hash ${blob} primary key,
    account bigint not null,
    name text not null,
    endpoints text,
    created bigint not null,
    revoked bigint
  )`,
  `create index api_key_account on api_key (account)`,
  `create table subscription (
    id ${serial},
    reference_id text not null unique,
    account bigint not null,
    chain bigint not null,
    revision bigint not null,
    event text not null,
    address ${blob},
    callback_url text not null,
    host text not null,
    secret text,
    confirmations bigint not null,
    created bigint not null,
    from_height bigint,
    active bigint not null,
    deactivation_reasons text not null default '[]',
    last_sequence bigint not null default 0
  )`,
  `create index subscription_watch on subscription (chain, address, active)`,
  `create index subscription_revision on subscription (chain, revision)`,
  `create index subscription_list on subscription (account, chain, id)`,
  `create index subscription_target on subscription (account, callback_url)`,
  `create table waiting (
    id ${serial},
    subscription bigint not null,
    chain bigint not null,
    height bigint not null,
    due_height bigint not null,
    confirmation bigint not null,
    target bigint not null,
    each_confirmation bigint not null,
    block_hash ${blob} not null,
    occurrence text not null,
    item text not null
  )`,
  `create index waiting_due on waiting (chain, due_height)`,
  `create index waiting_height on waiting (chain, height)`,
  `create index waiting_subscription on waiting (subscription)`,
  `create table callback (
    id ${serial},
    subscription bigint not null,
    chain bigint not null,
    height bigint,
    idempotency_key text not null unique,
    event text not null,
    body text not null,
    state text not null,
    due bigint not null,
    leased_until bigint not null default 0,
    attempts bigint not null default 0,
    sequence bigint,
    created bigint not null
  )`,
  `create index callback_due on callback (due) where state = 'due'`,
  `create index callback_subscription on callback (subscription, id)`,
  `create index callback_height on callback (chain, height)`,
  `create table unspent_output (
    chain bigint not null,
    transaction_id ${blob} not null,
    output_index bigint not null,
    script ${blob} not null,
    amount text not null,
    height bigint not null,
    primary key (chain, transaction_id, output_index)
  ) ${clustered}`,
  `create index unspent_output_height on unspent_output (chain, height)`,
  `create table spent_output (
    chain bigint not null,
    spent_height bigint not null,
    transaction_id ${blob} not null,
    output_index bigint not null,
    script ${blob} not null,
    amount text not null,
    height bigint not null,
    primary key (chain, spent_height, transaction_id, output_index)
  ) ${clustered}`
]
