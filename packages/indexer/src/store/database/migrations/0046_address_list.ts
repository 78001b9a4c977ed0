/**
 * Subscriptions on lists of addresses. The views show lists' addresses beside those of other subscriptions, each with the
 * subscription that is told of it: of the present, and of the past too, which blocks may still have to tell.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

const columns =
  "s.id, s.account, s.reference_id, s.event, s.host, s.confirmations, s.filter, s.active, s.parking, s.revision"

/**
 * SQLite looks into both parts by their indexes only where each column has the same affinity in both: that of a sum is none,
 * as that of a case.
 *
 * `left_revision`: the first revision that a listed address has no part in; null as long as it has.
 */
const everSubscribed = `
  select ${columns}, s.chain, s.address, s.from_height, s.active_from + 0 as active_from, cast(null as bigint) as left_revision, 0 as is_listed
  from subscription s where s.address is not null
  union all
  select ${columns}, a.chain, a.address, a.from_height,
    case when s.active_from > a.revision then s.active_from else a.revision end as active_from, a.left_revision, 1 as is_listed
  from listed_address a join subscription s on s.id = a.subscription`

export const up = ({ blob, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table address_list (
    subscription bigint primary key,
    account bigint not null,
    total bigint not null
  )`,
  "create index address_list_account on address_list (account)",
  `create table listed_address (
    id ${serial},
    subscription bigint not null,
    chain bigint not null,
    address ${blob} not null,
    revision bigint not null,
    left_revision bigint,
    from_height bigint
  )`,
  "create index listed_address_watch on listed_address (chain, address)",
  // An expression, as in 0042: no planner takes this index where addresses are looked up.
  "create index listed_address_revision on listed_address ((chain + 0), revision, id)",
  "create unique index listed_address_present on listed_address (subscription, address) where left_revision is null",
  "create index listed_address_list on listed_address (subscription, id)",
  "create index listed_address_left on listed_address ((chain + 0), left_revision) where left_revision is not null",
  `create view ever_subscribed_address as ${everSubscribed}`,
  "create view subscribed_address as select * from ever_subscribed_address where left_revision is null"
]
