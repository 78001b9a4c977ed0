/** Finding and leasing the callbacks that may be sent next. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import type { Claim, Continued, Outbox, Outgoing, Retention, Room } from "../Outbox.ts"
import * as Parked from "../Parked.ts"
import type { HostPermission } from "../Subscriptions.ts"

type CallbackRow = Pick<
  Row<"callback">,
  "id" | "subscription" | "idempotency_key" | "body" | "attempts" | "attempt_log" | "sequence" | "created"
>
const columns = sql.raw("id, subscription, idempotency_key, body, attempts, attempt_log, sequence, created")

type Receiver = Pick<
  Row<"subscription">,
  | "id"
  | "account"
  | "host"
  | "callback_url"
  | "secret"
  | "previous_secret"
  | "previous_secret_until"
  | "active"
  | "last_sequence"
>

// Planners use a partial index only where they see its conditions: these are literals, never parameters.
const unsent = sql`state = 'due' and attempts = 0`
const retried = sql`state = 'due' and attempts > 0`

/** The `hosts` and `claim` of the outbox. */
export const make = (
  database: Database["Service"],
  mayReceive: typeof HostPermission.Service,
  retention: typeof Retention.Service
): Pick<Outbox["Service"], "hosts" | "claim"> => {
  const { forUpdateSkipLocked, numbers, query, read, selectEach, transaction, updateEach } = database

  const hosts = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const found = yield* read(
      rows(sql<{ host: string }>`
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
        select host from first where host is not null
        union
        select host from again
        where host is not null
          and (select min(due) from callback where ${retried} and callback.host = again.host) <= ${now}`)
    )
    return found.map(({ host }) => host)
  })

  /** Subscriptions whose oldest callback that was never sent is free, in turn. */
  const freeSubscriptions = (host: string, after: number, limit: number, now: number) =>
    read(
      rows(sql<{ subscription: number }>`
        with recursive lane(subscription) as (
          select min(subscription) from callback where ${unsent} and host = ${host} and subscription > ${after}
          union all
          select (
            select min(c.subscription) from callback c
            where c.state = 'due' and c.attempts = 0 and c.host = ${host} and c.subscription > lane.subscription
          )
          from lane where lane.subscription is not null
        )
        select subscription from lane
        where subscription is not null and (
          select c.leased_until from callback c
          where c.state = 'due' and c.attempts = 0 and c.host = ${host} and c.subscription = lane.subscription
          order by c.id limit 1
        ) <= ${now}
        limit ${limit}`)
    ).pipe(Effect.map((found) => found.map(({ subscription }) => subscription)))

  const inTurn = Effect.fnUntraced(function* ({ after, host }: Room, limit: number, now: number) {
    if (limit === 0) return []
    const next = yield* freeSubscriptions(host, after, limit, now)
    if (next.length === limit || after === 0) return next
    const start = yield* freeSubscriptions(host, 0, limit - next.length, now)
    return [...next, ...start.filter((subscription) => subscription <= after)]
  })

  const dueAgain = ({ host }: Room, limit: number, now: number) =>
    limit === 0
      ? Effect.succeed([])
      : read(
          rows(sql<{ id: number }>`
            select id from callback
            where ${retried} and host = ${host} and due <= ${now} and leased_until <= ${now}
            order by due limit ${limit}`)
        ).pipe(Effect.map((found) => found.map(({ id }) => id)))

  /** What a claim may take, as far as this moment shows. */
  const candidates = Effect.fnUntraced(function* (rooms: ReadonlyArray<Room>, now: number) {
    const lanes: Array<Continued> = []
    const again: Array<number> = []
    for (const room of rooms) {
      const { continued, limit, retriesFirst, run } = room
      const places = limit + continued.length
      const first = retriesFirst ? yield* dueAgain(room, places, now) : []
      const own = new Set(continued.map(({ subscription }) => subscription))
      const free = (yield* inTurn(room, places - first.length, now)).filter((subscription) => !own.has(subscription))
      const retries = retriesFirst ? first : yield* dueAgain(room, places - free.length, now)
      const begun = free.slice(0, retriesFirst ? Math.max(limit - retries.length, 0) : limit)
      const resent = retries.slice(0, limit - begun.length)
      lanes.push(...begun.map((subscription) => ({ subscription, after: 0, run })))
      again.push(...resent)
      // What waits and finds no room has the places of these next.
      lanes.push(...continued.slice(free.length - begun.length + retries.length - resent.length))
    }
    return { lanes, again }
  })

  const receivers = (ids: ReadonlyArray<number>, lock: boolean) =>
    ids.length === 0
      ? Effect.succeed([])
      : query(
          rows(sql<Receiver>`
            select id, account, host, callback_url, secret, previous_secret, previous_secret_until, active,
              last_sequence
            from subscription where id in ${numbers(ids)}
            ${lock ? forUpdateSkipLocked : sql.raw("")}`)
        )

  /** Of each subscription, its oldest callbacks that were never sent, up to the first that somebody has leased. */
  const oldest = (receivers: ReadonlyArray<Receiver>, wanted: ReadonlyMap<number, Continued>, now: number) => {
    const lanes = receivers.map(({ host, id }) => ({ host, id, ...wanted.get(id)! }))
    const select = selectEach<CallbackRow & { readonly leased_until: number }>(
      { host: "text", id: "bigint", after: "bigint", run: "bigint" },
      lanes,
      `select id, subscription, idempotency_key, body, attempts, attempt_log, sequence, created, leased_until
       from callback where state = 'due' and attempts = 0 and host = :host and subscription = :id and id > :after
       order by id limit :run`
    )
    return Effect.map(select, (found) => {
      const bySubscription = Map.groupBy(found, ({ subscription }) => subscription)
      for (const [subscription, list] of bySubscription) {
        const end = list.findIndex(({ leased_until }) => leased_until > now)
        if (end >= 0) bySubscription.set(subscription, list.slice(0, end))
      }
      return bySubscription
    })
  }

  const secretsOf = (receiver: Receiver, now: number) => {
    const { previous_secret, previous_secret_until, secret } = receiver
    if (secret === null) return []
    return previous_secret !== null && (previous_secret_until ?? 0) > now ? [secret, previous_secret] : [secret]
  }

  const toClaim = (
    receiver: Receiver,
    callbacks: ReadonlyArray<Outgoing>,
    full: boolean,
    now: number,
    leasedUntil: number
  ): Claim => ({
    subscription: receiver.id,
    host: receiver.host,
    url: receiver.callback_url,
    secrets: secretsOf(receiver, now),
    callbacks,
    full,
    leasedUntil
  })

  const toOutgoing = (row: CallbackRow, sequence: number): Outgoing => ({
    id: row.id,
    idempotencyKey: row.idempotency_key,
    sequence,
    body: row.body,
    attempts: row.attempts,
    attemptLog: row.attempt_log,
    created: row.created
  })

  const claim: Outbox["Service"]["claim"] = Effect.fnUntraced(function* (rooms, leaseMillis) {
    const now = yield* Clock.currentTimeMillis
    const { again, lanes } = yield* candidates(rooms, now)
    if (lanes.length === 0 && again.length === 0) return []
    const leasedUntil = now + leaseMillis
    return yield* transaction(
      Effect.gen(function* () {
        const claims: Array<Claim> = []
        const open: Array<Receiver> = []
        const wanted = new Map(lanes.map((lane) => [lane.subscription, lane]))
        const locked = new Map((yield* receivers([...wanted.keys()], true)).map((receiver) => [receiver.id, receiver]))
        for (const lane of wanted.keys()) {
          const receiver = locked.get(lane)
          if (receiver === undefined) continue
          if (receiver.active === 1 && (yield* mayReceive(receiver.account, receiver.host))) {
            open.push(receiver)
            continue
          }
          yield* Parked.hold(receiver)
          if (receiver.active === 1) yield* Parked.trim(receiver, retention)
        }
        const found = yield* oldest(open, wanted, now)
        const leased: Array<{ id: number; leased_until: number; sequence: number }> = []
        const counted: Array<{ id: number; last_sequence: number }> = []
        for (const receiver of open) {
          const list = found.get(receiver.id) ?? []
          if (list.length === 0) continue
          let last = receiver.last_sequence
          const callbacks = list.map((row) => toOutgoing(row, row.sequence ?? ++last))
          for (const { id, sequence } of callbacks) leased.push({ id, leased_until: leasedUntil, sequence })
          if (last !== receiver.last_sequence) counted.push({ id: receiver.id, last_sequence: last })
          const full = callbacks.length === wanted.get(receiver.id)!.run
          claims.push(toClaim(receiver, callbacks, full, now, leasedUntil))
        }
        if (again.length > 0) {
          const retries = yield* query(
            rows(sql<CallbackRow>`
              select ${columns} from callback
              where id in ${numbers(again)} and ${retried} and due <= ${now} and leased_until <= ${now}
              ${forUpdateSkipLocked}`)
          )
          const of = yield* receivers([...new Set(retries.map(({ subscription }) => subscription))], false)
          const byId = new Map(of.map((receiver) => [receiver.id, receiver]))
          for (const row of retries) {
            const receiver = byId.get(row.subscription)
            // What was sent before has a number.
            if (receiver === undefined || row.sequence === null) continue
            leased.push({ id: row.id, leased_until: leasedUntil, sequence: row.sequence })
            claims.push(toClaim(receiver, [toOutgoing(row, row.sequence)], false, now, leasedUntil))
          }
        }
        yield* updateEach("subscription", counted)
        yield* updateEach("callback", leased)
        return claims
      })
    )
  })

  return { hosts, claim }
}
