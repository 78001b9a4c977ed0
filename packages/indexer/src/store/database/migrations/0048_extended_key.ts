/** Subscriptions on extended public keys: lists whose addresses the store derives itself. */
export const up = (): ReadonlyArray<string> => [
  `create table extended_key (
    subscription bigint primary key,
    chain bigint not null,
    public_key text not null,
    derivation text not null,
    format text not null,
    window_size bigint not null
  )`,
  "create index extended_key_chain on extended_key (chain)",
  `create table extended_key_branch (
    subscription bigint not null,
    branch bigint not null,
    chain bigint not null,
    used bigint not null,
    derived bigint not null,
    behind_from bigint,
    primary key (subscription, branch)
  )`,
  "create index extended_key_branch_behind on extended_key_branch (chain) where behind_from is not null",
  `create table past_payment (
    chain bigint not null,
    height bigint not null,
    subscription bigint not null,
    primary key (chain, height, subscription)
  )`,
  "create index past_payment_subscription on past_payment (subscription)",
  "create index spent_output_script on spent_output (chain, script)",
  "alter table listed_address add column branch bigint",
  "alter table listed_address add column address_index bigint",
  "alter table listed_address add column past_from bigint",
  "alter table listed_address add column past_to bigint",
  "create index listed_address_past on listed_address ((chain + 0), id) where past_from is not null"
]
