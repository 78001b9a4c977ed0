/** Partitions of PostgreSQL tables: attached and dropped while others read and write. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"
import { rows } from "./Statements.ts"

/** How long a drop waits for readers, for whom others wait meanwhile; and how often. */
const waits = { millis: 200, times: 4, pause: "500 millis" } as const

const run = (statement: string) => Effect.flatMap(Database, ({ query }) => query(rows(sql.raw(statement))))

const limitWaiting = run(`set local lock_timeout = ${waits.millis}`)

/** A partition that is to be. */
export interface Partition {
  readonly name: string
  /** The partitioned table. */
  readonly of: string
  /** The table whose columns it has. */
  readonly like: string
  /** The first key, and the one behind the last. */
  readonly from: ReadonlyArray<number>
  readonly to: ReadonlyArray<number>
  /** Statements behind `create`, with NAME for the partition's name. */
  readonly indexes: ReadonlyArray<string>
}

/**
 * Makes a partition, in a transaction. Where the table has a default partition, that is read from end to end for keys of the
 * new one, and until the transaction ends nobody else reads or writes the default partition.
 */
export const attach = Effect.fnUntraced(function* ({ from, indexes, like, name, of, to }: Partition) {
  yield* limitWaiting
  // Attached, not made as a partition: that would wait for every reader of the table, and they for it.
  yield* run(`create table ${name} (like ${like} including storage)`)
  for (const index of indexes) yield* run(`create ${index.replace("NAME", name)}`)
  yield* run(`alter table ${of} attach partition ${name} for values from (${from.join()}) to (${to.join()})`)
})

/**
 * Drops a partition in a transaction that begins with `first`, unless that says no. Where readers stay, or something of an
 * operator's hangs on the table, a warning says so, and somebody tries again later.
 */
export const drop = Effect.fnUntraced(function* (name: string, first: Effect.Effect<boolean, DatabaseError, Database>) {
  const { transaction } = yield* Database
  const once = Effect.gen(function* () {
    yield* limitWaiting
    const isWanted = yield* first
    if (isWanted) yield* run(`drop table ${name}`)
    return isWanted
  })
  return yield* transaction(once).pipe(
    Effect.retry({
      times: waits.times,
      schedule: Schedule.spaced(waits.pause),
      while: (error) => error.lockTimedOut
    }),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`${name} was not dropped, and is to be later: ${error.message}`), false)
    )
  )
})
