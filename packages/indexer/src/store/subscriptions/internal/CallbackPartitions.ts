/**
 * The partitions of past callbacks, on PostgreSQL. What ended a day ago becomes past, and is forgotten with its partition: the
 * table that deliveries work on stays small, and what is kept is neither deleted row by row nor looked through by vacuums.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ProvenTime from "../../chain/ProvenTime.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as Partitions from "../../database/Partitions.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import * as AccountFeedPage from "./AccountFeedPage.ts"
import * as EndedCallbacks from "./EndedCallbacks.ts"

const dayMillis = 86_400_000

/** How long a callback rests behind its end, in milliseconds, before it becomes past: what follows soon changes no partition. */
export const RestMillis = Context.Reference(
  "@headwater/indexer/store/subscriptions/internal/CallbackPartitions/RestMillis",
  { defaultValue: () => dayMillis }
)

export interface Keeping {
  /** How long callbacks are kept behind their end. */
  readonly finishedMillis: number
  readonly restMillis: number
}

/** Partitions of one time of keeping: each look into the past asks all of them, and locks each and its indexes. */
const partitionsKept = 5

type Partition = Row<"past_callback_partition">

const nameOf = ({ from_day }: Partition) => `past_callback_${from_day}`

/** What feeds and look-ups go by. */
const indexes = [
  "unique index on NAME (id)",
  "unique index on NAME (idempotency_key)",
  "index on NAME (subscription, sequence, id)",
  "index on NAME (chain, height, account, id)",
  "index on NAME (chain, height) where state = 'retracted'",
  "index on NAME (account, feed_position) where feed_position is not null",
  "index on NAME (account, id) where feed_position is null"
]

/** The newest partition, which is made where none reaches today. */
const present = Effect.fnUntraced(function* (today: number, days: number) {
  const { query } = yield* Database
  yield* query(rows(sql.raw("lock table past_callback_partition in share row exclusive mode")))
  const [newest] = yield* query((db) =>
    db.selectFrom("past_callback_partition").selectAll().orderBy("from_day", "desc").limit(1)
  )
  if (newest !== undefined && today < newest.to_day) return newest
  const partition = { from_day: today, to_day: today + days }
  yield* Partitions.attach({
    ...{ name: nameOf(partition), of: "every_callback", like: "callback", indexes },
    ...{ from: [partition.from_day], to: [partition.to_day] }
  })
  yield* query((db) => db.insertInto("past_callback_partition").values(partition))
  return partition
})

/** Callbacks that have ended, and have a number: nothing is sent of them again unless somebody asks for that. */
const ended = sql`state in ${sql.raw(`(${CallbackState.transitions.prune.from.map((state) => `'${state}'`).join(", ")})`)} and sequence is not null`
const end = sql`coalesce(delivered, created)`

/** When callbacks ended that become past, in milliseconds since the Unix epoch: what is older is deleted in its time. */
interface Ends {
  readonly since: number
  readonly before: number
}

/** Moves those of a chain's callbacks that are to become past, in a transaction; how many. */
const moveSome = Effect.fnUntraced(function* (
  chain: number,
  ids: ReadonlyArray<number>,
  { before, since }: Ends,
  day: number
) {
  const { lockRows, numbers, query } = yield* Database
  yield* ChainRow.lock(chain)
  const which = sql<boolean>`id in ${numbers(ids)}`
  const owners = sql<boolean>`id in (select subscription from callback where ${which})`
  yield* lockRows((db) => db.selectFrom("subscription").select("id").where(owners).orderBy("id"))
  const moved = yield* query(
    rows(sql<Pick<Row<"callback">, "height">>`
      update every_callback set past_day = ${day}
      where past_day = 0 and ${which} and ${ended}
        and ${end} >= ${since} and ${end} < ${before} and leased_until < ${before}
        and exists (select 1 from subscription where subscription.id = every_callback.subscription)
      returning height`)
  )
  const highest = moved.reduce((highest, { height }) => Math.max(highest, height ?? -1), -1)
  if (moved.length > 0) {
    yield* query(
      rows(sql`
        insert into past_callback_height (chain, height) values (${chain}, ${highest})
        on conflict (chain) do update set height = greatest(past_callback_height.height, excluded.height)`)
    )
  }
  return moved.length
})

/** Makes callbacks past that ended some time ago, in small steps; how many. */
export const move = Effect.fn("CallbackPartitions.move")(function* ({ finishedMillis, restMillis }: Keeping) {
  const { partitioned, read, transaction } = yield* Database
  // Callbacks that are kept for no longer are deleted before they would be past.
  if (!partitioned || finishedMillis <= restMillis) return 0
  const now = yield* ProvenTime.now
  const ends = { since: now - finishedMillis, before: now - restMillis }
  const days = Math.ceil(finishedMillis / dayMillis / partitionsKept)
  // Day 0 is that of callbacks that are not past.
  const today = Math.max(1, Math.floor(now / dayMillis))
  let day: number | undefined
  const [start] = yield* read((db) => db.selectFrom("past_callback_start").select("id"))
  return yield* EndedCallbacks.eachStep({ after: start!.id, before: ends.before }, (ended) =>
    Effect.gen(function* () {
      const old = ended.filter((one) => one.sequence !== null && EndedCallbacks.endOf(one) >= ends.since)
      if (old.length === 0) return 0
      if (day === undefined) {
        const { from_day } = yield* transaction(present(today, days))
        // A clock that was set back.
        day = Math.max(today, from_day)
      }
      let count = 0
      for (const [chain, some] of Map.groupBy(old, ({ chain }) => chain)) {
        const ids = some.map(({ id }) => id)
        count += yield* transaction(moveSome(chain, ids, ends, day))
      }
      return count
    })
  )
})

/** Has feeds pass over what is in a partition; false where another daemon has dropped that. */
const pass = Effect.fnUntraced(function* (partition: Partition) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db.deleteFrom("past_callback_partition").where("from_day", "=", partition.from_day).returning("from_day")
  )
  if (found.length > 0) yield* AccountFeedPage.pass(nameOf(partition), sql`true`)
  return found.length > 0
})

/** Drops the partitions whose callbacks all ended longer ago than they are kept. */
export const drop = Effect.fn("CallbackPartitions.drop")(function* ({
  finishedMillis
}: Pick<Keeping, "finishedMillis">) {
  const { partitioned, read } = yield* Database
  if (!partitioned) return
  const keptSince = Math.floor(((yield* ProvenTime.now) - finishedMillis) / dayMillis)
  const over = yield* read((db) =>
    db.selectFrom("past_callback_partition").selectAll().where("to_day", "<=", keptSince).orderBy("from_day")
  )
  for (const partition of over) {
    if (yield* Partitions.drop(nameOf(partition), pass(partition))) {
      const before = new Date(partition.to_day * dayMillis).toISOString()
      yield* Effect.logInfo(`Forgot the callbacks that became past before ${before}`)
    }
  }
})

/** Moves what has become past, and drops what is kept no longer. */
export const keep = (keeping: Keeping) =>
  move(keeping).pipe(
    // A role that may make no tables has every callback deleted in its time.
    Effect.catch((error) => Effect.logWarning(`Ended callbacks were not moved to a partition: ${error.message}`)),
    Effect.andThen(drop(keeping))
  )
