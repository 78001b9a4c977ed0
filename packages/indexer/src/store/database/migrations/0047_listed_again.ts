/**
 * The addresses of a list take part from the subscription's activation on as each begins again, in small steps; and what
 * waits in a mempool is told of those that came before it.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

const columns =
  "s.id, s.account, s.reference_id, s.event, s.host, s.confirmations, s.filter, s.active, s.parking, s.revision"

/**
 * As in 0046; but a listed address of before the subscription's activation has no part in what came since, until it has
 * begun again.
 */
const everSubscribed = `
  select ${columns}, s.created + 0 as created, s.chain, s.address, s.from_height, s.active_from,
    cast(null as bigint) + 0 as left_revision, 0 as is_listed
  from subscription s where s.address is not null
  union all
  select ${columns}, case when a.created > s.created then a.created else s.created end as created,
    a.chain, a.address, a.from_height, a.revision as active_from,
    case when a.left_revision is null and a.revision < s.active_from then s.active_from else a.left_revision end as left_revision,
    1 as is_listed
  from listed_address a join subscription s on s.id = a.subscription`

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table listed_address add column created bigint",
  "alter table address_list add column begin_after bigint",
  "create index address_list_beginning on address_list (subscription) where begin_after is not null",
  "update subscription set active_from = 0 where id in (select subscription from address_list)",
  "drop view subscribed_address",
  "drop view ever_subscribed_address",
  `create view ever_subscribed_address as ${everSubscribed}`,
  "create view subscribed_address as select * from ever_subscribed_address where left_revision is null"
]
