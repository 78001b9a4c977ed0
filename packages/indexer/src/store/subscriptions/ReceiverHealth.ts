/**
 * How the receivers of callbacks do: each host of each account, and each subscription, by what the store has of their
 * attempts and of what is still to be sent. No state is kept: it follows from these, and is the same for every daemon.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as DeliveriesOverTime from "./DeliveriesOverTime.ts"
import { HostPermission, HostPermissions } from "./HostPermission.ts"
import * as AttemptLog from "./internal/AttemptLog.ts"
import * as AttemptStatistics from "./internal/AttemptStatistics.ts"
import { dueOf, retried, unsent, waiting } from "./internal/CallbackIndexes.ts"
import * as DeliveryRecord from "./internal/DeliveryRecord.ts"
import * as FailingSubscriptions from "./internal/FailingSubscriptions.ts"
import * as ReceiverHosts from "./internal/ReceiverHosts.ts"
import { type Failing, failuresOf, isActive, type State, stateOf, withPauseOf } from "./internal/ReceiverState.ts"

export type { State } from "./internal/ReceiverState.ts"

export interface ReceiverHealth extends AttemptStatistics.AttemptStatistics {
  readonly state: State
  /** When the first attempt failed after the last that was accepted; of a host, of any of its subscriptions. All times are in milliseconds since the Unix epoch. */
  readonly failingSince: number | undefined
  /** Why the last attempt failed, while the state is due to it. */
  readonly error: string | undefined
  /** Until when the host is left alone. */
  readonly pausedUntil: number | undefined
  /** Callbacks whose first attempt is to come, and that are sent again; when the oldest of both was entered. */
  readonly waiting: number
  readonly retrying: number
  readonly oldest: number | undefined
  /** When a callback is sent again; undefined where none is. */
  readonly nextAttempt: number | undefined
}

/** A host of an account. */
export interface HostHealth extends ReceiverHealth {
  readonly account: number
  readonly host: string
  /** Subscriptions whose last attempt failed, and inactive ones. */
  readonly failingSubscriptions: number
  readonly inactiveSubscriptions: number
}

interface Backlog {
  readonly waiting: number
  readonly retrying: number
  readonly oldest: number | undefined
  readonly nextAttempt: number | undefined
}

interface BacklogRow {
  readonly count: number
  readonly oldest: number | null
  readonly due: number | null
}

const backlogOf = Effect.fnUntraced(function* (conditions: {
  readonly unsent: RawBuilder<unknown>
  readonly retried: RawBuilder<unknown>
}) {
  const { read } = yield* Database
  const select = (which: RawBuilder<unknown>) =>
    read(
      rows(sql<BacklogRow>`
        select count(*) as count, min(due) as due,
          (select created from callback where id = (select min(id) from callback where ${which})) as oldest
        from callback where ${which}`)
    )
  const [[first], [again]] = [yield* select(conditions.unsent), yield* select(conditions.retried)]
  const times = [first!.oldest, again!.oldest].filter((time) => time !== null)
  return {
    waiting: Number(first!.count),
    retrying: Number(again!.count),
    oldest: times.length === 0 ? undefined : Math.min(...times),
    nextAttempt: again!.due ?? undefined
  } satisfies Backlog
})

const shown = (state: State, failing: Failing | undefined, { nextAttempt, ...backlog }: Backlog, now: number) => {
  const pausedUntil = failing !== undefined && failing.pausedUntil > now ? failing.pausedUntil : undefined
  return {
    ...{ state, failingSince: failing?.since, error: failing?.error, pausedUntil, ...backlog },
    nextAttempt: nextAttempt === undefined ? undefined : Math.max(nextAttempt, pausedUntil ?? 0)
  }
}

/** Attempts are counted in periods of so many milliseconds. */
export const { periodMillis } = DeliveryRecord

const ofHost = Effect.fnUntraced(function* (
  { account, active, host }: ReceiverHosts.ReceiverHost,
  statisticsSince: number
) {
  const { read } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const mine = sql`host = ${host} and account = ${account}`
  const [inactive] = yield* read(
    rows(sql<{ count: number }>`select count(*) as count from subscription where ${mine} and active = 0`)
  )
  const { count, failing } = yield* failuresOf(account, host)
  const backlog = yield* backlogOf({ unsent: sql`${unsent} and ${mine}`, retried: sql`${retried} and ${mine}` })
  const verified = yield* (yield* HostPermission)(account, host)
  const state = stateOf({ verified, active: active === 1, failing, retrying: backlog.retrying, now })
  return {
    ...{ account, host, ...shown(state, failing, backlog, now), failingSubscriptions: count },
    inactiveSubscriptions: Number(inactive!.count),
    ...AttemptStatistics.ofCounts(yield* countsOf(account, host, statisticsSince))
  } satisfies HostHealth
})

const countsOf = Effect.fnUntraced(function* (account: number, host: string, since: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("delivery_count")
      .select(["outcome", "millis", "attempts"])
      .where("account", "=", account)
      .where("host", "=", host)
      .where("period", ">=", since)
  )
})

/** Of how many periods, the present one among them, the figures of a host are: an hour. */
const statisticsPeriods = 6

const statisticsSince = Effect.map(
  Clock.currentTimeMillis,
  (now) => DeliveryRecord.periodOf(now) - (statisticsPeriods - 1) * DeliveryRecord.periodMillis
)

const healthOf = Effect.fnUntraced(function* (found: ReadonlyArray<ReceiverHosts.ReceiverHost>) {
  const since = yield* statisticsSince
  return yield* Effect.forEach(found, (target) => ofHost(target, since))
})

const ofAccount = Effect.fn("ReceiverHealth.ofAccount")(function* (
  account: number,
  { limit, offset }: { readonly limit: number; readonly offset: number }
) {
  const found = yield* ReceiverHosts.read(account)
  return { total: found.length, hosts: yield* healthOf(found.slice(offset, offset + limit)) }
})

const keyOf = ({ account, host }: Pick<ReceiverHosts.ReceiverHost, "account" | "host">) => `${account} ${host}`

/** The state of every host, of all accounts or of one, by few statements for all of them. */
const allStates = Effect.fnUntraced(function* (account: number | undefined) {
  const { read } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const mayReceive = yield* HostPermissions
  const found = yield* ReceiverHosts.read(account)
  const [own, waitsOfOwn] =
    account === undefined
      ? [sql``, sql``]
      : [sql`and account = ${account}`, sql`and account = ${account} and ${waiting}`]
  const failures = yield* read(
    rows(sql<Failing & ReceiverHosts.ReceiverHost>`
      select account, host, min(since) as since, max(paused_until) as "pausedUntil", '' as error from failing_subscription
      where ${isActive} ${own} group by account, host`)
  )
  const failingOf = new Map(failures.map((failing) => [keyOf(failing), failing]))
  const again = yield* read(
    rows(sql<ReceiverHosts.ReceiverHost>`
      select account, host from callback where ${retried} ${waitsOfOwn} group by account, host`)
  )
  const retrying = new Set(again.map(keyOf))
  const permitted = yield* mayReceive(found)
  return found.map((target, i) => {
    const [failing, active] = [failingOf.get(keyOf(target)), target.active === 1]
    const retries = retrying.has(keyOf(target)) ? 1 : 0
    return { ...target, state: stateOf({ verified: permitted[i]!, active, failing, retrying: retries, now }) }
  })
})

/** The order in which operators are shown hosts. */
const severity: Readonly<Record<State, number>> = {
  ...{ failing: 0, paused: 0, inactive: 1 },
  ...{ recovering: 2, unverified: 3, healthy: 4 }
}

const overview = Effect.fn("ReceiverHealth.overview")(function* (limit: number, account?: number) {
  const { numbers, read } = yield* Database
  const all = yield* allStates(account)
  const counts: Record<State, number> = {
    ...{ unverified: 0, inactive: 0, paused: 0 },
    ...{ failing: 0, recovering: 0, healthy: 0 }
  }
  for (const { state } of all) counts[state]++
  const worst = [...all].sort((a, b) => severity[a.state] - severity[b.state]).slice(0, limit)
  const hosts = yield* healthOf(worst)
  const accounts = yield* read(
    rows(sql<{ id: number; name: string }>`
      select id, name from account where id in ${numbers(worst.map(({ account }) => account))}`)
  )
  const nameOf = new Map(accounts.map(({ id, name }) => [id, name]))
  return { counts, hosts: hosts.map((host) => ({ ...host, account: nameOf.get(host.account) ?? "" })) }
})

/** Callbacks whose attempts say how a subscription does: the last ones with a number. */
const lastCallbacks = 100

const ofSubscription = Effect.fn("ReceiverHealth.ofSubscription")(function* (
  subscription: Pick<Row<"subscription">, "id" | "account" | "host" | "active">
) {
  const { read } = yield* Database
  const { account, active, host, id } = subscription
  const now = yield* Clock.currentTimeMillis
  const [unsent, retried] = dueOf(subscription)
  const backlog = yield* backlogOf({ unsent: unsent!, retried: retried! })
  const [row] = yield* read((db) => db.selectFrom("failing_subscription").selectAll().where("subscription", "=", id))
  const failures = yield* failuresOf(account, host)
  const failing = withPauseOf(failures.failing, now, row)
  const logs = yield* read(
    rows(sql<Pick<Row<"callback">, "attempt_log">>`
      select attempt_log from every_callback where subscription = ${id} and sequence is not null
      order by sequence desc limit ${lastCallbacks}`)
  )
  const attempts = (yield* Effect.forEach(logs, ({ attempt_log }) => AttemptLog.decode(attempt_log))).flat()
  const verified = yield* (yield* HostPermission)(account, host)
  return {
    ...shown(
      stateOf({ verified, active: active === 1, failing, retrying: backlog.retrying, now }),
      failing,
      backlog,
      now
    ),
    ...AttemptStatistics.ofAttempts(attempts)
  } satisfies ReceiverHealth
})

export const make = Effect.gen(function* () {
  const database = yield* Database
  const services = { one: yield* HostPermission, many: yield* HostPermissions }
  const provided = <A, E>(self: Effect.Effect<A, E, Database>) =>
    self.pipe(
      Effect.provideService(Database, database),
      Effect.provideService(HostPermission, services.one),
      Effect.provideService(HostPermissions, services.many)
    )
  return {
    /** A page of an account's hosts, in the order of their names, and how many there are. */
    ofAccount: (...asked: Parameters<typeof ofAccount>) => provided(ofAccount(...asked)),
    /** How many hosts of all accounts, or of one, there are in each state, and some of the hosts, those that fail first. */
    overview: (limit: number, account?: number) => provided(overview(limit, account)),
    /** How a subscription does, by the attempts of its last callbacks. */
    ofSubscription: (...asked: Parameters<typeof ofSubscription>) => provided(ofSubscription(...asked)),
    /** Subscriptions that fail, of all accounts or of one, those that have failed for longest first. */
    failures: (limit: number, account?: number) => provided(FailingSubscriptions.read(limit, account)),
    /** How many active subscriptions fail, how many of these for half of their retries, and when the first failure began. */
    failing: provided(Effect.suspend(() => FailingSubscriptions.count())),
    /** Each period of the last day, the present one at the end, over all accounts. */
    periods: provided(DeliveriesOverTime.periods),
    /** Attempts of the last day and the last month, of all accounts or of one. */
    overTime: (account?: number) => provided(DeliveriesOverTime.read(account))
  }
})
