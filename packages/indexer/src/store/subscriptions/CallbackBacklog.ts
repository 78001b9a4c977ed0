/**
 * The callbacks of all accounts that have not reached their receivers, counted in the store: what is, not what this process
 * has seen. The count reads indexes that hold nothing else.
 */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import * as CallbackIndexes from "./internal/CallbackIndexes.ts"

/** Callbacks in one state, and when the oldest was entered, in milliseconds since the Unix epoch; undefined where there is none. */
export interface Part {
  readonly count: number
  readonly oldest: number | undefined
}

export interface CallbackBacklog {
  /** Before their first attempt. */
  readonly waiting: Part
  /** Of these, the ones for hosts that have refused nothing that is still to be sent: others may wait for the receiver. */
  readonly accepting: Part
  /** To be sent again. */
  readonly retrying: Part
  /** The subscription is inactive, or the host not verified. */
  readonly parked: Part
  /** What blocks have for addresses with very many subscriptions, of which not every callback is written yet. */
  readonly unwritten: Part
}

interface Group {
  readonly host: string
  readonly count: number
  /** The lowest id. */
  readonly first: number
}

const byHost = (which: RawBuilder<unknown>) => sql<Group>`
  select host, count(*) as count, min(id) as first from callback where ${which} group by host`

/** The parts of the backlog, each as of about the same moment. */
export const read = Effect.fn("CallbackBacklog.read")(function* () {
  const { numbers, read } = yield* Database
  const waiting = yield* read(rows(byHost(CallbackIndexes.unsent)))
  const retrying = yield* read(rows(byHost(CallbackIndexes.retried)))
  const parked = yield* read(
    rows(sql<Omit<Group, "host">>`
      select count(*) as count, min(id) as first from callback where ${CallbackIndexes.parked} having count(*) > 0`)
  )
  const [matched] = yield* read(
    rows(sql<{ count: number; oldest: number | null }>`select count(*) as count, min(created) as oldest from matched`)
  )
  const refusing = new Set(retrying.map(({ host }) => host))
  const groups = {
    ...{ waiting, retrying, parked },
    accepting: waiting.filter(({ host }) => !refusing.has(host))
  }
  const firsts = Object.values(groups).flatMap((found) => found.map(({ first }) => first))
  const created = new Map(
    (yield* read(
      rows(sql<{ id: number; created: number }>`select id, created from callback where id in ${numbers(firsts)}`)
    )).map((row) => [row.id, row.created])
  )
  const part = (found: ReadonlyArray<Omit<Group, "host">>): Part => {
    const times = found.flatMap(({ first }) => created.get(first) ?? [])
    return {
      count: found.reduce((sum, { count }) => sum + Number(count), 0),
      // Not spread: hosts may be very many.
      oldest: times.reduce<number | undefined>((least, time) => Math.min(least ?? time, time), undefined)
    }
  }
  return {
    waiting: part(groups.waiting),
    accepting: part(groups.accepting),
    retrying: part(groups.retrying),
    parked: part(groups.parked),
    unwritten: { count: Number(matched!.count), oldest: matched!.oldest ?? undefined }
  } satisfies CallbackBacklog
})

/** The parts of one account's backlog, by the index of what waits; up to `most` callbacks are counted. */
export const ofAccount = Effect.fn("CallbackBacklog.ofAccount")(function* (account: number, most: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<{ kind: "waiting" | "retrying" | "parked"; host: string; count: number; oldest: number }>`
      select kind, host, count(*) as count, min(created) as oldest from (
        select created, host,
          case when state = 'held' then 'parked' when attempts = 0 then 'waiting' else 'retrying' end as kind
        from callback where account = ${account} and ${CallbackIndexes.waiting} limit ${most}
      ) counted group by kind, host`)
  )
  const part = (groups: typeof found): Part => ({
    count: groups.reduce((sum, { count }) => sum + Number(count), 0),
    oldest: groups.reduce<number | undefined>(
      (least, { oldest }) => Math.min(least ?? oldest, Number(oldest)),
      undefined
    )
  })
  const of = (wanted: (typeof found)[number]["kind"]) => found.filter(({ kind }) => kind === wanted)
  const [waiting, retrying] = [of("waiting"), of("retrying")]
  const refusing = new Set(retrying.map(({ host }) => host))
  return {
    waiting: part(waiting),
    accepting: part(waiting.filter(({ host }) => !refusing.has(host))),
    retrying: part(retrying),
    parked: part(of("parked"))
  }
})
