/** The hosts that subscriptions' callbacks go to. */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"

/** A host of an account, and whether any subscription to it is active. */
export interface ReceiverHost {
  readonly account: number
  readonly host: string
  readonly active: number
}

/** Hosts that are looked at. */
const mostHosts = 10_000

/** Within an account the host behind another, and the first of the accounts behind: each one look into an index. */
const behind = (account: RawBuilder<unknown>, host: RawBuilder<unknown>) => ({
  host: sql`from subscription where account = ${account} and host > ${host} order by host limit 1`,
  account: sql`from subscription where account > ${account} order by account, host limit 1`
})

/** The hosts of an account's subscriptions. */
const hostsOf = (account: number) => {
  const first = behind(sql`${account}`, sql`${""}`)
  const next = behind(sql`${account}`, sql`target.host`)
  return sql`
    select cast(${account} as bigint), (select host ${first.host})
    union all
    select target.account, (select host ${next.host}) from target where target.host is not null`
}

/** The hosts of all accounts' subscriptions. */
const allHosts = () => {
  const first = behind(sql`-1`, sql`''`)
  const next = behind(sql`target.account`, sql`target.host`)
  return sql`
    select (select account ${first.account}), (select host ${first.account})
    union all
    select
      case when exists (select 1 from subscription where account = target.account and host > target.host)
        then target.account else (select account ${next.account}) end,
      coalesce((select host ${next.host}), (select host ${next.account}))
    from target where target.host is not null`
}

/** The hosts of subscriptions, by steps through an index, however many subscriptions they have; of one account, or of all. */
export const read = Effect.fnUntraced(function* (account?: number) {
  const { read } = yield* Database
  return yield* read(
    rows(sql<ReceiverHost>`
      with recursive target(account, host) as (${account === undefined ? allHosts() : hostsOf(account)})
      select account, host, case when exists (
        select 1 from subscription s where s.account = target.account and s.host = target.host and s.active = 1
      ) then 1 else 0 end as active
      from target where host is not null limit ${mostHosts}`)
  )
})
