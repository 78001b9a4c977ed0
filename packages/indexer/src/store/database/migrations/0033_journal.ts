/** What a subscription was told stays as it was: a retraction ends a key, and a rewind retracts only what has changed. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered }: ColumnTypes): ReadonlyArray<string> => [
  "alter table callback add column original bigint",
  "create index callback_retracted on callback (chain, height) where state = 'retracted'",
  // Of blocks that may return: with retractions, what was taken back before the receiver accepted was retracted as well.
  `update callback set state = 'retracted'
   where state = 'orphaned' and sequence is not null
     and exists (select 1 from chain where chain.id = callback.chain and callback.height > chain.height - 1000)
     and exists (
       select 1 from subscription join account on account.id = subscription.account
       where subscription.id = callback.subscription and account.retractions = 1
     )`,
  `create table rewound_block (
    chain bigint not null,
    height bigint not null,
    hash ${blob} not null,
    primary key (chain, height)
  ) ${clustered}`,
  // An older program would tell events again under keys that have ended.
  "update store_format set oldest_migration = '0033_journal', oldest_program = '0.2.0'"
]
