/** What of a past block is told, as far as it is, and the blocks that subscriptions on extended public keys have missed. */
export const up = (): ReadonlyArray<string> => [
  "alter table past_payment add column from_address bigint not null default 0",
  "alter table past_payment add column told bigint not null default 0",
  `create table missed_blocks (
    chain bigint not null,
    subscription bigint not null,
    from_height bigint not null,
    to_height bigint not null
  )`,
  "create index missed_blocks_subscription on missed_blocks (subscription)",
  "create index missed_blocks_end on missed_blocks (chain, to_height)",
  // What a key says of itself, and the next addresses of one that are to be looked at, whatever the number of all.
  `create index listed_address_complete on listed_address (subscription, from_height)
   where left_revision is null and branch is not null`,
  "create index listed_address_unread on listed_address (subscription, id) where past_from is not null"
]
