/** What happens while a subscription is inactive is parked within bounds; behind these, its feed names a gap. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table subscription add column parking bigint not null default 0",
  "alter table subscription add column inactive_since bigint",
  "alter table subscription add column gap_from bigint",
  "create index subscription_parking on subscription (id) where parking = 1",
  "drop index subscription_unconfirmed",
  `create index subscription_unconfirmed on subscription (chain, revision)
    where event = 'ADDRESS_COINS_TRANSACTION_UNCONFIRMED' and active + parking = 1`,
  // An older program would let a subscription that it activates go on parking.
  "update store_format set oldest_migration = '0034_parking', oldest_program = '0.2.0'"
]
