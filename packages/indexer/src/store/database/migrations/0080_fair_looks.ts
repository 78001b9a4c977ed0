/**
 * Looks at nodes by account, so that those of one have their turn beside those of another; and how often nodes were in doubt of a
 * transaction, apart from how often they had none.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  // What an older program has noted, before this or beside it, has turns as that of one account.
  "alter table transaction_look add column account bigint not null default 0",
  "alter table transaction_look add column doubts bigint not null default 0",
  "create index transaction_look_account on transaction_look ((chain + 0), account, next_look, subscription)",
  "create index broadcast_account_look on broadcast ((chain + 0), account, next_look, id) where next_look is not null"
]
