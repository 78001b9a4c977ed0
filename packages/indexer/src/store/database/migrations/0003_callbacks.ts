/** Callbacks found host by host and numbered per subscription, their attempts, domains, secrets in rotation. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ serial }: ColumnTypes): ReadonlyArray<string> => [
  `alter table callback add column host text not null default ''`,
  `alter table callback add column attempt_log text not null default '[]'`,
  `alter table callback add column delivered bigint`,
  `update callback set host = (select host from subscription where subscription.id = callback.subscription)`,
  `drop index callback_due`,
  `drop index callback_subscription`,
  `create index callback_first on callback (host, subscription, id) where state = 'due' and attempts = 0`,
  `create index callback_retry on callback (host, due, subscription) where state = 'due' and attempts > 0`,
  `create index callback_held on callback (subscription, id) where state = 'held'`,
  `create index callback_feed on callback (subscription, sequence, id)`,
  `alter table subscription add column previous_secret text`,
  `alter table subscription add column previous_secret_until bigint`,
  `create index subscription_host on subscription (account, host)`,
  `create table domain (
    id ${serial},
    account bigint not null,
    name text not null,
    token text not null,
    created bigint not null,
    verified bigint
  )`,
  `create unique index domain_name on domain (account, name)`
]
