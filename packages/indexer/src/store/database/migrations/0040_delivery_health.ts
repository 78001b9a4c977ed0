/** How attempts to deliver went lately, and which subscriptions fail at the moment. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table delivery_count (
    account bigint not null,
    host text not null,
    period bigint not null,
    outcome text not null,
    millis bigint not null,
    attempts bigint not null,
    primary key (account, host, period, outcome, millis)
  ) ${clustered}`,
  "create index delivery_count_period on delivery_count (period)",
  `create table failing_subscription (
    subscription bigint primary key,
    account bigint not null,
    host text not null,
    since bigint not null,
    last bigint not null,
    status bigint,
    error text not null,
    paused_until bigint not null
  )`,
  "create index failing_subscription_host on failing_subscription (account, host)",
  "create index failing_subscription_since on failing_subscription (since)",
  "create index subscription_activity on subscription (account, host, active)"
]
