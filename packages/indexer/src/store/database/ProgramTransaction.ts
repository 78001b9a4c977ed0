/** Transactions of the store for the tables of a program that embeds it, in promises. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { Database } from "./Database.ts"

/** The store, as a query builder for the program's own tables. */
export type ProgramTables<Tables> = Kysely<Tables>

/** What the program's own function has thrown. */
export class Thrown extends Data.TaggedError("Thrown")<{ readonly cause: unknown }> {}

/** Runs a function of the program in the surrounding transaction. */
export const join = Effect.fnUntraced(function* <Tables, A>(run: (db: ProgramTables<Tables>) => Promise<A>) {
  const { query } = yield* Database
  const db = yield* query((db) => ({ execute: async () => db }))
  return yield* Effect.tryPromise({
    try: () => run(db as unknown as Kysely<Tables>),
    catch: (cause) => new Thrown({ cause })
  })
})
