/** The connections of an open store, their queries and transactions: the ground on which both adapters stand. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type CompiledQuery, type ControlledTransaction, type Dialect, Kysely, type RawBuilder } from "kysely"
import { DatabaseError } from "../DatabaseError.ts"
import type { Tables } from "../Tables.ts"

/** What `compile` gives, where a query has it, finds the rows that `execute` answers. */
export type Build<A> = (db: Kysely<Tables>) => { execute(): Promise<A>; compile?(): CompiledQuery }

/** The open transaction of the current fiber, if there is one. */
export const Current = Context.Reference<ControlledTransaction<Tables> | undefined>(
  "@headwater/indexer/store/database/internal/Connection/Current",
  { defaultValue: () => undefined }
)

const errorOf = (cause: unknown): DatabaseError => {
  // PostgreSQL repeats a row's values there, which a log may not hold: extended public keys, callback secrets.
  if (cause instanceof Error) Reflect.deleteProperty(cause, "detail")
  return new DatabaseError({ cause })
}

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, DatabaseError> =>
  Effect.tryPromise({ try: run, catch: errorOf })

/** Opens a database that is closed with the scope. */
export const open = (dialect: Dialect) =>
  Effect.acquireRelease(
    Effect.sync(() => new Kysely<Tables>({ dialect })),
    (db) => Effect.promise(() => db.destroy())
  )

/** A statement in SQL, for `query` and `read`. */
export const rows =
  <A>(statement: RawBuilder<A>) =>
  (db: Kysely<Tables>) => ({
    compile: () => statement.compile(db),
    execute: async (): Promise<ReadonlyArray<A>> => (await statement.execute(db)).rows
  })

/** Reading that may hold up everything else of the process, in milliseconds. */
const sliceMillis = 10

/** What reads outside of transactions. */
export interface Reader {
  readonly db: Kysely<Tables>
  /** What a query finds, where that needs no waiting. */
  readonly rowsOf?: (query: CompiledQuery) => ReadonlyArray<unknown>
  /** Whether the open transaction would find at this moment what the reader does. */
  readonly isAlike?: () => boolean
  /** Has the transaction that was opened just now do so; it fails later where that does not hold. */
  readonly readAhead?: () => void
}

export const make = (writer: Kysely<Tables>, reader: Reader) => {
  let damage: string | undefined
  const failed = (cause: unknown) => {
    const error = errorOf(cause)
    if (error.damaged) damage ??= error.message
    return error
  }
  const tried = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })

  const query = <A>(build: Build<A>): Effect.Effect<A, DatabaseError> =>
    Effect.flatMap(Current, (transaction) => tried(() => build(transaction ?? writer).execute()))

  const { db, isAlike = () => false, readAhead, rowsOf } = reader
  /** Milliseconds of reading since everything else of the process had its turn: a loop of reads waits for nothing. */
  let unshared = 0
  const answer = <A>(build: Build<A>): Effect.Effect<A, DatabaseError> => {
    const built = build(db)
    if (rowsOf === undefined || built.compile === undefined) return tried(() => built.execute())
    const begun = performance.now()
    const found = rowsOf(built.compile()) as A
    unshared += performance.now() - begun
    if (unshared < sliceMillis) return Effect.succeed(found)
    unshared = 0
    return Effect.as(Effect.yieldNow, found)
  }
  const read = <A>(build: Build<A>): Effect.Effect<A, DatabaseError> =>
    Effect.flatMap(Current, (transaction) =>
      transaction === undefined || isAlike()
        ? Effect.flatten(Effect.try({ try: () => answer(build), catch: failed }))
        : tried(() => build(transaction).execute())
    )

  /** What is to run behind the commit of an open transaction, by name. */
  const waiting = new WeakMap<ControlledTransaction<Tables>, Map<string, Effect.Effect<void>>>()

  const afterCommit = (name: string, run: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.flatMap(Current, (current) => {
      if (current === undefined) return run
      waiting.set(current, (waiting.get(current) ?? new Map()).set(name, run))
      return Effect.void
    })

  const open = async (opened: () => void) => {
    const transaction = await writer.startTransaction().execute()
    opened()
    return transaction
  }

  const rollback = (transaction: ControlledTransaction<Tables>) => tried(() => transaction.rollback().execute())

  const runWaiting = (transaction: ControlledTransaction<Tables>) =>
    Effect.suspend(() => Effect.forEach(waiting.get(transaction)?.values() ?? [], (run) => run, { discard: true }))

  const commit = (transaction: ControlledTransaction<Tables>) =>
    tried(() => transaction.commit().execute()).pipe(
      // A deferred statement may fail only now; the connection must be free again whatever happens.
      Effect.tapError(() => Effect.ignore(rollback(transaction))),
      Effect.andThen(runWaiting(transaction))
    )

  const transactionFrom = <A, E, R>(
    self: Effect.Effect<A, E, R>,
    opened: () => void
  ): Effect.Effect<A, E | DatabaseError, R> =>
    Effect.flatMap(Current, (current) =>
      current !== undefined
        ? self
        : Effect.acquireUseRelease(
            tried(() => open(opened)),
            (transaction) => Effect.provideService(self, Current, transaction),
            (transaction, exit) => (Exit.isSuccess(exit) ? commit(transaction) : rollback(transaction))
          )
    )

  const transaction = <A, E, R>(self: Effect.Effect<A, E, R>) => transactionFrom(self, () => {})

  const optimistic = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | DatabaseError, R> =>
    Effect.flatMap(Current, (current) =>
      // Inside another one it is that one's to be done again, from its own beginning.
      current !== undefined || readAhead === undefined
        ? transaction(self)
        : Effect.catchIf(
            transactionFrom(self, readAhead),
            (error) => error instanceof DatabaseError && error.changedMeanwhile,
            () => transaction(self)
          )
    )

  return {
    writer,
    query,
    read,
    transaction,
    optimistic,
    /** Runs an effect behind the commit of the surrounding transaction, once for each name; at once where there is none. */
    afterCommit,
    attempt: tried,
    damage: Effect.sync(() => damage)
  }
}

export type Connection = ReturnType<typeof make>
