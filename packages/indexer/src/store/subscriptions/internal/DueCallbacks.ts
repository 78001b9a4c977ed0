/**
 * Finds what is due, host by host, by steps through indexes that hold nothing else: the cost grows with the number of
 * hosts and of subscriptions that are looked at, not with their backlogs. All are reads: what they find may be leased
 * by another process a moment later.
 */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { DueHost, HostCapacity } from "../Lease.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"
import { retried, retriedOfAccounts, unsent, unsentOfAccounts } from "./CallbackIndexes.ts"

/** Hosts that there is something to send to at this moment. */
export const hosts = Effect.fnUntraced(function* (now: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ host: string; first_account: number | null; last_account: number | null }>`
      with recursive
        first(host) as (
          select min(host) from callback where ${unsent}
          union all
          select (select min(host) from callback where ${unsent} and host > first.host)
          from first where first.host is not null
        ),
        again(host) as (
          select min(host) from callback where ${retried}
          union all
          select (select min(host) from callback where ${retried} and host > again.host)
          from again where again.host is not null
        )
      select host,
        (select min(account) from callback where ${unsentOfAccounts} and callback.host = due.host) as first_account,
        (select max(account) from callback where ${unsentOfAccounts} and callback.host = due.host) as last_account
      from (
        select host from first where host is not null
        union
        select host from again
        where host is not null
          and (select min(due) from callback where ${retried} and callback.host = again.host) <= ${now}
      ) due`)
  )
  return found.map(
    ({ first_account, host, last_account }): DueHost => ({
      host,
      account: first_account === last_account ? (first_account ?? undefined) : undefined
    })
  )
})

/** Accounts that have callbacks by the condition of an index, and fulfil one of `turn.account`. */
interface Turns {
  readonly ofAccounts: RawBuilder<unknown>
  readonly isDue: RawBuilder<unknown>
}

/**
 * Accounts behind the cursor that the host has callbacks of, by the condition of an index and one of the account, but for those
 * passed over. The cursor stands before the condition of the index: SQLite begins its search at the first bound, and reads all
 * from there.
 */
const accountsAfter = Effect.fnUntraced(function* (
  host: string,
  { isDue, ofAccounts }: Turns,
  passedOver: ReadonlyArray<number>,
  cursor: number,
  limit: number
) {
  const { numbers, read } = yield* Database
  const found = yield* read(
    rows(sql<{ account: number }>`
      with recursive turn(account) as (
        select min(account) from callback where host = ${host} and account > ${cursor} and ${ofAccounts}
        union all
        select (select min(c.account) from callback c where c.host = ${host} and c.account > turn.account and ${ofAccounts})
        from turn where turn.account is not null
      )
      select account from turn
      where account is not null and account not in ${numbers(passedOver)} and ${isDue} limit ${limit}`)
  )
  return found.map(({ account }) => account)
})

/** Accounts that are looked at beyond those that there are places for: of some nothing may be sent at this moment. */
const mostPassed = 64

/** What a host's accounts have due, each in its turn: which accounts these are, and by a look at one of them. */
const inTurns = Effect.fnUntraced(function* <E, R>(
  { accountCursor, host }: HostCapacity,
  turns: Turns,
  passedOver: ReadonlyArray<number>,
  limit: number,
  ofAccount: (account: number, limit: number) => Effect.Effect<ReadonlyArray<Due>, E, R>
) {
  if (limit === 0) return []
  const most = limit + mostPassed
  const after = (cursor: number) => accountsAfter(host, turns, passedOver, cursor, most)
  const all = yield* after(-1)
  const isAll = all.length < most || accountCursor < 0
  const next = isAll ? all.filter((account) => account > accountCursor) : yield* after(accountCursor)
  const accounts = [...next, ...all.filter((account) => account <= accountCursor)].slice(0, most)
  const found: Array<Due> = []
  for (const [i, account] of accounts.entries()) {
    // The last ones may take what the others have left.
    const share = Math.ceil((limit - found.length) / (accounts.length - i))
    if (share === 0) break
    found.push(...(yield* ofAccount(account, share)))
  }
  return found
})

/** Some of an account's subscriptions, by their ids: those behind `after`, up to `last`, that fulfil a condition. */
interface Span {
  readonly after: number
  readonly last: number
  readonly condition: RawBuilder<unknown>
}

/**
 * Subscriptions of an account in the span whose oldest callback that was never sent is not leased, nor to be taken back
 * before anything is sent: such ones would take the places of others.
 */
const streamsIn = Effect.fnUntraced(function* (
  host: string,
  account: number,
  { after, condition, last }: Span,
  limit: number,
  now: number
) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ subscription: number }>`
      with recursive stream(subscription) as (
        select min(subscription) from callback
        where ${unsentOfAccounts} and host = ${host} and account = ${account}
          and subscription > ${after} and subscription <= ${last}
        union all
        select (
          select min(c.subscription) from callback c
          where ${unsentOfAccounts} and c.host = ${host} and c.account = ${account}
            and c.subscription > stream.subscription and c.subscription <= ${last}
        )
        from stream where stream.subscription is not null
      )
      select subscription from stream
      where subscription is not null and ${condition} and (
        select case when ${sql.raw(UndoneBlocks.hasLeft)} then null else leased_until end from callback
        where ${unsent} and host = ${host} and subscription = stream.subscription
        order by id limit 1
      ) <= ${now}
      limit ${limit}`)
  )
  return found.map(({ subscription }) => subscription)
})

/** Something that an account may have sent, and whether it counts among what fails. */
export interface Due {
  readonly account: number
  readonly id: number
  readonly failing: boolean
}

const isFailing = sql`exists (select 1 from failing_subscription f where f.subscription = stream.subscription)`

/** As {@link streamsIn}, of all its subscriptions, each in its turn, those that fail behind the others where they are to be. */
const streamsOf = Effect.fnUntraced(function* (
  { accounts, host }: HostCapacity,
  account: number,
  limit: number,
  now: number
) {
  const { failingLimit, roundRobinCursor: cursor = 0 } = accounts.get(account) ?? {}
  const kinds =
    failingLimit === undefined
      ? [{ condition: sql`true`, failing: false }]
      : [
          { condition: sql`not ${isFailing}`, failing: false },
          { condition: isFailing, failing: true }
        ]
  const found: Array<Due> = []
  for (const { condition, failing } of kinds) {
    for (const [after, last] of [
      [cursor, Number.MAX_SAFE_INTEGER],
      [0, cursor]
    ] as const) {
      if (found.length === limit || last === 0) continue
      const ids = yield* streamsIn(host, account, { after, last, condition }, limit - found.length, now)
      for (const id of ids) found.push({ account, id, failing })
    }
  }
  return found
})

/** Subscriptions of the host whose oldest callback that was never sent may be leased: accounts in their turn, of each its own. */
export const streams = (capacity: HostCapacity, limit: number, now: number) => {
  const followed = new Set(capacity.followOns.map(({ account }) => account))
  const full = [...capacity.accounts].flatMap(([account, { limit }]) =>
    limit > 0 || followed.has(account) ? [] : [account]
  )
  const turns = { ofAccounts: unsentOfAccounts, isDue: sql`true` }
  return inTurns(capacity, turns, full, limit, (account, share) => streamsOf(capacity, account, share, now))
}

/** What commits have handed over, as {@link streams} has it. */
export const handedOver = Effect.fnUntraced(function* (
  { accounts }: HostCapacity,
  due: NonNullable<HostCapacity["only"]>
) {
  const { numbers, read } = yield* Database
  const ids = due
    .filter(({ account }) => accounts.get(account)?.failingLimit !== undefined)
    .map(({ subscription }) => subscription)
  const found =
    ids.length === 0
      ? []
      : yield* read(
          rows(sql<{ subscription: number }>`
            select subscription from failing_subscription where subscription in ${numbers(ids)}`)
        )
  const failing = new Set(found.map(({ subscription }) => subscription))
  return due
    .map(({ account, subscription }): Due => ({ account, id: subscription, failing: failing.has(subscription) }))
    .sort((a, b) => Number(a.failing) - Number(b.failing))
})

/** Callbacks of an account that are to be sent again, in the order of their times; none that is to be taken back first. */
const retriesOf = Effect.fnUntraced(function* (host: string, account: number, limit: number, now: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<Pick<Due, "id">>`
      select id from callback
      where ${retriedOfAccounts} and host = ${host} and account = ${account} and due <= ${now} and leased_until <= ${now}
        and not ${sql.raw(UndoneBlocks.hasLeft)}
      order by due limit ${limit}`)
  )
  return found.map(({ id }): Due => ({ account, id, failing: true }))
})

/** As {@link streams}, ids of the host's callbacks that are to be sent again. */
export const retries = (capacity: HostCapacity, limit: number, now: number) => {
  const full = [...capacity.accounts].flatMap(([account, { failingLimit, limit }]) =>
    limit > 0 && failingLimit !== 0 ? [] : [account]
  )
  // Accounts whose time has not come would take the places of others at every look.
  const isDue = sql`(
    select min(c.due) from callback c
    where ${retriedOfAccounts} and c.host = ${capacity.host} and c.account = turn.account
  ) <= ${now}`
  const turns = { ofAccounts: retriedOfAccounts, isDue }
  return inTurns(capacity, turns, full, limit, (account, share) => retriesOf(capacity.host, account, share, now))
}
