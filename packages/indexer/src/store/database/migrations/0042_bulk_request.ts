/**
 * Requests that make many subscriptions, by a key of their account's, and what each of their items has come to.
 *
 * The index by which a new subscription is compared with those that there are is one of expressions: then no planner with
 * old statistics takes another one that begins alike and knows nothing of the address.
 */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, clustered, serial }: ColumnTypes): ReadonlyArray<string> => [
  `create table bulk_request (
    id ${serial},
    account bigint not null,
    request_key text not null,
    digest ${blob} not null,
    done bigint not null default 0,
    created bigint not null,
    unique (account, request_key)
  )`,
  "create index bulk_request_created on bulk_request (created)",
  `create table bulk_result (
    bulk bigint not null,
    position bigint not null,
    results text not null,
    primary key (bulk, position)
  ) ${clustered}`,
  "create index subscription_alike on subscription ((account + 0), (chain + 0), event, address, confirmations)",
  "drop index subscription_same"
]
