/** Transactions that accounts have broadcast, and what became of them. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table broadcast (
    id ${serial},
    account bigint not null,
    chain bigint not null,
    transaction_id ${blob} not null,
    raw ${blob} not null,
    outcome text not null,
    error text,
    height bigint,
    hash ${blob},
    absences bigint not null default 0,
    since_height bigint not null,
    next_look bigint,
    created bigint not null,
    changed bigint not null,
    subscription bigint,
    told text,
    tellings bigint not null default 0,
    unique (chain, transaction_id, account)
  )`,
  "create index broadcast_look on broadcast (chain, next_look) where next_look is not null",
  "create index broadcast_changed on broadcast (changed) where next_look is null",
  "create index broadcast_account on broadcast (account)"
]
