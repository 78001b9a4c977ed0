/** The connections of an open store, their queries and transactions: the ground on which both adapters stand. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type ControlledTransaction, type Dialect, Kysely, type RawBuilder } from "kysely"
import { DatabaseError } from "../DatabaseError.ts"
import type { Tables } from "../Tables.ts"

export type Build<A> = (db: Kysely<Tables>) => { execute(): Promise<A> }

/** The open transaction of the current fiber, if there is one. */
export const Current = Context.Reference<ControlledTransaction<Tables> | undefined>(
  "@headwater/indexer/store/database/internal/Connection/Current",
  { defaultValue: () => undefined }
)

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, DatabaseError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => {
      // PostgreSQL repeats a row's values there, which a log may not hold: extended public keys, callback secrets.
      if (cause instanceof Error) Reflect.deleteProperty(cause, "detail")
      return new DatabaseError({ cause })
    }
  })

/** Opens a database that is closed with the scope. */
export const open = (dialect: Dialect) =>
  Effect.acquireRelease(
    Effect.sync(() => new Kysely<Tables>({ dialect })),
    (db) => Effect.promise(() => db.destroy())
  )

/** A statement in SQL, for `query` and `read`. */
export const rows =
  <A>(statement: RawBuilder<A>): Build<ReadonlyArray<A>> =>
  (db) => ({ execute: async () => (await statement.execute(db)).rows })

export const make = (writer: Kysely<Tables>, reader: Kysely<Tables>) => {
  const on =
    (db: Kysely<Tables>) =>
    <A>(build: Build<A>): Effect.Effect<A, DatabaseError> =>
      Effect.flatMap(Current, (transaction) => attempt(() => build(transaction ?? db).execute()))

  const transaction = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | DatabaseError, R> =>
    Effect.flatMap(Current, (current) =>
      current !== undefined
        ? self
        : Effect.acquireUseRelease(
            attempt(() => writer.startTransaction().execute()),
            (transaction) => Effect.provideService(self, Current, transaction),
            (transaction, exit) => {
              const rollback = attempt(() => transaction.rollback().execute())
              return Exit.isSuccess(exit)
                ? // A deferred statement may fail only now; the connection must be free again whatever happens.
                  attempt(() => transaction.commit().execute()).pipe(Effect.tapError(() => Effect.ignore(rollback)))
                : rollback
            }
          )
    )

  return { writer, query: on(writer), read: on(reader), transaction }
}

export type Connection = ReturnType<typeof make>
