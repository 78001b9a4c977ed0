/** Transactions of the store for the tables of a program that embeds it, in promises. */
import { AsyncLocalStorage } from "node:async_hooks"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { Database } from "./Database.ts"

/** The store, as a query builder for the program's own tables. */
export type ProgramTables<Tables> = Kysely<Tables>

/** What the program's own function has thrown. */
export class Thrown extends Data.TaggedError("Thrown")<{ readonly cause: unknown }> {}

/** The transaction around a function of the program, as long as it runs. */
interface Surroundings {
  readonly context: Context.Context<Database>
  isOpen: boolean
}

const current = new AsyncLocalStorage<Surroundings>()

/** The context of the program's function that calls, which has the function's transaction; undefined where none runs. */
export const surrounding = (): Context.Context<Database> | undefined => {
  const found = current.getStore()
  return found?.isOpen === true ? found.context : undefined
}

/** Runs a function of the program in the surrounding transaction. */
export const join = Effect.fnUntraced(function* <Tables, A>(run: (db: ProgramTables<Tables>) => Promise<A>) {
  const { query } = yield* Database
  const db = yield* query((db) => ({ execute: async () => db }))
  const surroundings: Surroundings = { context: yield* Effect.context<Database>(), isOpen: true }
  return yield* Effect.tryPromise({
    try: () => current.run(surroundings, () => run(db as unknown as Kysely<Tables>)),
    catch: (cause) => new Thrown({ cause })
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        surroundings.isOpen = false
      })
    )
  )
})
